// One position of the simpler simple recurrent unit (Kim et al. 2019).
#pragma once

#include "vector/gates.h"
#include "vector/lanes.h"

namespace pocketmt {
namespace {

inline void recurrent_unit(const float* projected, const float* forget_bias, const float* cell_before, size_t size,
                           float* cell, float* out) {
    const Floats one = broadcast(1.0f);
    for_lanes(size, [&](size_t i, auto load, auto store) {
        const Floats forget = sigmoid(load(projected + size + i) + load(forget_bias + i));
        Floats value = (one - forget) * load(projected + i);
        if (cell_before != nullptr) value = forget * load(cell_before + i) + value;
        store(cell + i, value);
        store(out + i, maximum(value, Floats{}));
    });
}

}  // namespace
}  // namespace pocketmt
