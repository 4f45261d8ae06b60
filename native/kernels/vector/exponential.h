// Exponential and logarithm. Those of the C library give different bits on different CPUs.
#pragma once

#include "vector/lanes.h"

namespace pocketmt {
namespace {

// exp(x) for x <= 0, an absolute error below 2e-7 and a relative one below 2e-7 + 8e-8 |x|: exactly 1 for 0, exactly 0
// for -inf, at most the least normal number where exp(x) is below it. x / ln 2 = n + r, |r| <= 1/2; 2^r by a polynomial
// of degree 5 (minimax, relative error 1e-7), then n is added to its exponent; at -127, the least n, 1 becomes 0.
POCKETMT_INLINE Floats exponential(Floats x) {
    const Floats t = maximum(x * broadcast(1.44269504f), broadcast(-127.0f));
    const Floats shifted = t + broadcast(rounding_shift);
    const Floats r = t - (shifted - broadcast(rounding_shift));
    Floats value = broadcast(1.32647273e-3f);
    value = value * r + broadcast(9.67151299e-3f);
    value = value * r + broadcast(5.55073358e-2f);
    value = value * r + broadcast(0.240222424f);
    value = value * r + broadcast(0.693147004f);
    return times_power_of_two(value * r + broadcast(1.0f), shifted);
}

// The natural logarithm of a positive normal number: x = m 2^e with m in [sqrt(1/2), sqrt(2)), ln m = 2 artanh((m - 1)
// / (m + 1)).
inline double logarithm(double x) {
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    constexpr uint64_t root_of_half = 0x3fe6a09e667f3bcdull;
    const int64_t exponent = static_cast<int64_t>(bits - root_of_half) >> 52;
    bits -= static_cast<uint64_t>(exponent) << 52;
    double m;
    __builtin_memcpy(&m, &bits, sizeof m);
    const double t = (m - 1.0) / (m + 1.0);  // |t| <= 0.1716
    const double square = t * t;
    double series = 0.0;
    for (int odd = 19; odd >= 1; odd -= 2) series = series * square + 1.0 / odd;
    return static_cast<double>(exponent) * 0.693147180559945309417 + 2.0 * t * series;
}

}  // namespace
}  // namespace pocketmt
