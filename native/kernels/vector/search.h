// Functions over the logits of the whole vocabulary.
#pragma once

#include "vector/exponential.h"
#include "vector/lanes.h"

namespace pocketmt {
namespace {

// The greatest of x[0 .. size), or -inf if it is empty.
inline float greatest_value(const float* x, size_t size) {
    const Floats lowest = broadcast(-__builtin_inff());
    Floats a = lowest, b = lowest, c = lowest, d = lowest;
    size_t i = 0;
    for (; i + 4 * lanes <= size; i += 4 * lanes) {
        a = maximum(a, load(x + i));
        b = maximum(b, load(x + i + lanes));
        c = maximum(c, load(x + i + 2 * lanes));
        d = maximum(d, load(x + i + 3 * lanes));
    }
    for (; i + lanes <= size; i += lanes) a = maximum(a, load(x + i));
    if (i < size) b = maximum(b, load_first(x + i, size - i, -__builtin_inff()));
    return greatest_lane(maximum(maximum(a, b), maximum(c, d)));
}

inline float log_sum_exp(const float* x, size_t size) {
    const float greatest = greatest_value(x, size);
    if (greatest == -__builtin_inff()) return greatest;
    const Floats shift = broadcast(greatest);
    Floats even{}, odd{};
    size_t i = 0;
    for (; i + 2 * lanes <= size; i += 2 * lanes) {
        even += exponential(load(x + i) - shift);
        odd += exponential(load(x + i + lanes) - shift);
    }
    for (; i + lanes <= size; i += lanes) even += exponential(load(x + i) - shift);
    if (i < size) odd += exponential(load_first(x + i, size - i, -__builtin_inff()) - shift);
    return static_cast<float>(static_cast<double>(greatest) + logarithm(sum_of_lanes(even + odd)));
}

// Inserts (index, value) into a list of `length` sorted from best to worst, whose last element is dropped.
inline void insert_sorted(uint32_t* indices, float* values, size_t length, uint32_t index, float value) {
    size_t place = length - 1;
    for (; place > 0 && value > values[place - 1]; --place) {
        values[place] = values[place - 1];
        indices[place] = indices[place - 1];
    }
    values[place] = value;
    indices[place] = index;
}

// One pass, which skips 64 values at once if none of them is greater than the k-th best so far.
inline void top_k(const float* x, size_t size, uint32_t first, size_t k, uint32_t* indices, float* values) {
    const auto consider = [&](size_t i) {
        if (x[i] > values[k - 1]) insert_sorted(indices, values, k, first + static_cast<uint32_t>(i), x[i]);
    };
    size_t i = 0;
    for (; i + 4 * lanes <= size; i += 4 * lanes) {
        const Floats greatest = maximum(maximum(load(x + i), load(x + i + lanes)),
                                        maximum(load(x + i + 2 * lanes), load(x + i + 3 * lanes)));
        if (!any_greater(greatest, broadcast(values[k - 1]))) continue;
        for (size_t j = i; j < i + 4 * lanes; ++j) consider(j);
    }
    for (; i < size; ++i) consider(i);
}

}  // namespace
}  // namespace pocketmt
