// exp and log of our own: those of the C library differ from one CPU to the next.
#pragma once

#include "vector/lanes.h"

namespace pocketmt {
namespace {

// exp(x) for x <= 0 (relative error below 2e-7), 0 where the result would be below the least normal number, so for -inf
// too. x = n ln 2 + r, |r| <= ln(2) / 2; exp(r) by a polynomial of degree 6 (minimax, relative error 3e-9); times 2^n.
// ln 2 is split in two, its upper part short enough for n times it to be exact.
POCKETMT_INLINE Floats exponential(Floats x) {
    const Floats shifted = x * broadcast(1.44269504f) + broadcast(rounding_shift);
    const Floats n = shifted - broadcast(rounding_shift);
    const Floats r = (x - n * broadcast(0.693359375f)) - n * broadcast(-2.12194440e-4f);
    Floats tail = broadcast(1.38145394e-3f);
    tail = tail * r + broadcast(8.36874545e-3f);
    tail = tail * r + broadcast(4.1668389e-2f);
    tail = tail * r + broadcast(0.166665211f);
    tail = tail * r + broadcast(0.49999994f);
    const Floats value = ((tail * r) * r + r) + broadcast(1.0f);
    return where_greater(x, broadcast(-87.3f), value * power_of_two(shifted), Floats{});
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
