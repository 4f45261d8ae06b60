// One position of an LSTM, without its matrix products.
#pragma once

#include "vector/gates.h"
#include "vector/lanes.h"

namespace pocketmt {
namespace {

inline void lstm_unit(const float* given, const float* recurrent, const float* cell_before, size_t size, float* cell,
                      float* hidden) {
    for_lanes(size, [&](size_t i, auto load, auto store) {
        const auto row = [&](size_t gate) {
            const size_t element = gate * size + i;
            return recurrent ? load(given + element) + load(recurrent + element) : load(given + element);
        };
        Floats value = sigmoid(row(0)) * hyperbolic_tangent(row(3));
        if (cell_before != nullptr) value = sigmoid(row(1)) * load(cell_before + i) + value;
        store(cell + i, value);
        store(hidden + i, sigmoid(row(2)) * hyperbolic_tangent(value));
    });
}

}  // namespace
}  // namespace pocketmt
