// Computes a product as a whole and in parts.
#pragma once

#include <cstring>
#include <stdexcept>
#include <vector>

#include "kernels/product.h"
#include "testing/guarded_memory.h"

namespace pocketmt::testing {

// Returns the products [count, rows] that multiply(outputs) computes, with `gap` guarded elements between their rows.
// Computes them again in parts, the last part first; throws std::runtime_error where the results differ.
template <class Multiply>
std::vector<float> made_products(size_t count, size_t rows, size_t gap, Multiply&& multiply) {
    const GuardedRows<float> whole(count, rows, gap), parts(count, rows, gap);
    multiply(Outputs{whole.data(), whole.stride()});
    for (size_t last = rows; last > 0;) {
        const size_t first = (last - 1) / part_outputs * part_outputs;
        multiply(Outputs{parts.data() + first, parts.stride(), first, last});
        last = first;
    }
    std::vector<float> found = whole.values();
    const std::vector<float> found_in_parts = parts.values();
    if (std::memcmp(found.data(), found_in_parts.data(), found.size() * sizeof(float)) != 0)
        throw std::runtime_error("a product computed in parts differs from the product computed as a whole");
    return found;
}

}  // namespace pocketmt::testing
