// Steps of average attention (Zhang et al. 2018, section 3).
#pragma once

#include "vector/gates.h"
#include "vector/lanes.h"

namespace pocketmt {
namespace {

inline void running_mean(const float* x, const float* before, size_t count, size_t size, float* mean) {
    const Floats earlier = broadcast(static_cast<float>(count)), all = broadcast(static_cast<float>(count + 1));
    for_lanes(size, [&](size_t i, auto load, auto store) {
        store(mean + i, before ? (load(before + i) * earlier + load(x + i)) / all : load(x + i));
    });
}

inline void gated_sum(const float* x_gate, const float* x, const float* y_gate, const float* y, size_t size,
                      float* out) {
    for_lanes(size, [&](size_t i, auto load, auto store) {
        store(out + i, sigmoid(load(x_gate + i)) * load(x + i) + sigmoid(load(y_gate + i)) * load(y + i));
    });
}

}  // namespace
}  // namespace pocketmt
