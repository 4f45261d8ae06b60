// The kernels of one instruction set, and the choice of an instruction set.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "cpu.h"
#include "fake_quantization_functions.h"
#include "product.h"
#include "vector_functions.h"

namespace pocketmt {

struct Kernels {
    const char* name;  // Name of the instruction set.
    CpuRequirements requirements;
    const Product* products[product_family_count];  // In the order of ProductFamily.
    const VectorFunctions& vector;
    const FakeQuantizationFunctions& fake_quantization;
    // Whether products of lookup tables in a cache take longer than those of 8-bit weights.
    bool expands_tables;
    size_t checked_rows;  // Rows of activations that take every path of the products, in check_kernels.
    // Decoder rows that suffice for a batch: if caches near a core do not hold more, a larger batch is hardly faster.
    size_t batch_rows;

    const Product& product(ProductFamily family) const { return *products[static_cast<size_t>(family)]; }
};

// One tile of rows and a part of another one, with most registers.
constexpr size_t few_checked_rows = 15;
constexpr size_t most_checked_rows = 35;

// The kernels that this machine can run, those of the fastest instruction set first and the portable ones last.
// Requests the tile registers of AMX from Linux, which makes signals take more of an alternate stack in this process.
std::span<const Kernels* const> supported_kernels();
// The kernels of an instruction set; requests nothing for others. Throws std::invalid_argument if there is no
// instruction set of this name, and std::runtime_error if this machine cannot run it.
const Kernels& kernels_named(std::string_view name);
// The fastest kernels that this machine can run, or those that the environment variable POCKETMT_INSTRUCTION_SET names.
// Throws std::runtime_error if there are none of this name or this machine cannot run them.
const Kernels& best_kernels();
// Computes one small product of every family and compares it with the plain reference; throws std::runtime_error naming
// the kernel that disagrees (integers: bit for bit). Run once when a model is loaded.
void check_kernels(const Kernels& kernels);

}  // namespace pocketmt
