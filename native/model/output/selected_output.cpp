#include "model/output/selected_output.h"

#include <algorithm>
#include <utility>

namespace pocketmt {

SelectedOutput::SelectedOutput(const OutputLayer& whole, std::vector<uint32_t> pieces, Buffer<std::byte>& memory)
    : pieces_(std::move(pieces)), matrix_(whole.matrix.gather(pieces_, memory)) {
    if (whole.bias == nullptr) return;
    for (uint32_t piece : pieces_) bias_.push_back(whole.bias[piece]);
}

std::optional<uint32_t> SelectedOutput::find(uint32_t piece) const {
    const auto place = std::ranges::lower_bound(pieces_, piece);
    if (place == pieces_.end() || *place != piece) return std::nullopt;
    return static_cast<uint32_t>(place - pieces_.begin());
}

}  // namespace pocketmt
