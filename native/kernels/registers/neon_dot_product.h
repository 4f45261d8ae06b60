// NEON with the dot product of signed bytes (Armv8.2).
#pragma once

#include "registers/neon.h"

namespace pocketmt {
namespace {

struct Registers : RegistersNeon {
    static constexpr CpuRequirements requirements{.hardware_capabilities = {has_dot_product}};
};

}  // namespace
}  // namespace pocketmt
