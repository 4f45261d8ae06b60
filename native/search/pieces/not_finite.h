// The error of a network whose logits are not finite numbers.
#pragma once

namespace pocketmt {

constexpr const char* not_finite =
    "the network's logits are not finite numbers: its weights are broken or far too large";

}  // namespace pocketmt
