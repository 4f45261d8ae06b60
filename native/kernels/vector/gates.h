// The gate functions of recurrent units.
#pragma once

#include "vector/exponential.h"
#include "vector/lanes.h"

namespace pocketmt {
namespace {

// 1 / (1 + exp(-x)), computed from exp(-|x|).
POCKETMT_INLINE Floats sigmoid(Floats x) {
    const Floats one = broadcast(1.0f);
    const Floats small = exponential(Floats{} - absolute(x));
    return where_greater(Floats{}, x, small, one) / (one + small);
}

// (1 - exp(-2|x|)) / (1 + exp(-2|x|)), with the sign of x: an absolute error below 4e-7.
POCKETMT_INLINE Floats hyperbolic_tangent(Floats x) {
    const Floats one = broadcast(1.0f);
    const Floats small = exponential(broadcast(-2.0f) * absolute(x));
    const Floats value = (one - small) / (one + small);
    return where_greater(Floats{}, x, Floats{} - value, value);
}

}  // namespace
}  // namespace pocketmt
