// The activation functions of feed-forward networks that are not part of a product's epilogue.
#pragma once

#include "vector/gates.h"
#include "vector/lanes.h"

namespace pocketmt {
namespace {

// The probability that a standard normal number is beyond |x|: t Q(t) exp(-x^2 / 2) with t = 1 / (1 + c |x|), Q of
// degree 7 (minimax, a relative error of 1.2e-7 up to |x| = 12.5, beyond which the result is below 1e-35).
POCKETMT_INLINE Floats normal_tail(Floats x) {
    const Floats t = broadcast(1.0f) / (broadcast(1.0f) + absolute(x) * broadcast(0.305000007f));
    Floats value = broadcast(0.0366995111f);
    value = value * t + broadcast(-0.152989715f);
    value = value * t + broadcast(0.18571949f);
    value = value * t + broadcast(-0.0379794054f);
    value = value * t + broadcast(0.121023171f);
    value = value * t + broadcast(0.103420369f);
    value = value * t + broadcast(0.122466907f);
    value = value * t + broadcast(0.121639729f);
    return value * t * exponential(x * x * broadcast(-0.5f));
}

// x = function(x), element by element.
template <class Function>
POCKETMT_INLINE void replace(size_t size, float* x, Function&& function) {
    for_lanes(size, [&](size_t i, auto load, auto store) { store(x + i, function(load(x + i))); });
}

inline void swish(size_t size, float* x) {
    replace(size, x, [](Floats value) POCKETMT_INLINE_LAMBDA { return value * sigmoid(value); });
}

inline void gelu(size_t size, float* x) {
    replace(size, x, [](Floats value) POCKETMT_INLINE_LAMBDA {
        const Floats tail = value * normal_tail(value);
        return where_greater(value, Floats{}, value - tail, tail);
    });
}

// 1 + tanh(u) = 2 sigmoid(2 u).
inline void gelu_tanh(size_t size, float* x) {
    replace(size, x, [](Floats value) POCKETMT_INLINE_LAMBDA {
        const Floats cube = value * value * value;
        const Floats argument = (value + cube * broadcast(0.044715f)) * broadcast(1.59576912f);
        return value * sigmoid(argument);
    });
}

inline void gelu_sigmoid(size_t size, float* x) {
    replace(size, x, [](Floats value) POCKETMT_INLINE_LAMBDA { return value * sigmoid(value * broadcast(1.702f)); });
}

}  // namespace
}  // namespace pocketmt
