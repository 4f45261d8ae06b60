// What a product makes, whole and in parts.
#pragma once

#include <cstring>
#include <stdexcept>
#include <vector>

#include "kernels/kernels.h"
#include "testing/fenced_memory.h"

namespace pocketmt::testing {

// The products [count, rows] that multiply(outputs) makes, with `gap` guarded elements between their rows. They are
// made once more in parts, the last part first: throws std::runtime_error where these are not the same.
template <class Multiply>
std::vector<float> made_products(size_t count, size_t rows, size_t gap, Multiply&& multiply) {
    const FencedRows<float> whole(count, rows, gap), parts(count, rows, gap);
    multiply(Outputs{whole.data(), whole.stride()});
    for (size_t last = rows; last > 0;) {
        const size_t first = (last - 1) / part_outputs * part_outputs;
        multiply(Outputs{parts.data() + first, parts.stride(), first, last});
        last = first;
    }
    std::vector<float> found = whole.values();
    const std::vector<float> found_in_parts = parts.values();
    if (std::memcmp(found.data(), found_in_parts.data(), found.size() * sizeof(float)) != 0)
        throw std::runtime_error("a product made in parts is not that made in one go");
    return found;
}

}  // namespace pocketmt::testing
