// Sixteen float lanes: one register of 64 bytes, two of 32 or four of 16. Vector functions are written on these for
// every instruction set. They give the same bits everywhere, because no multiply-add is fused (-ffp-contract=off) and
// there is one fixed order of reduction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "registers.h"
#include "shapes.h"

namespace pocketmt {
namespace {

constexpr size_t lanes = 16;

template <class Half>
struct Pair {
    Half low;
    Half high;
};

template <size_t register_lanes>
struct SixteenLanes;
template <>
struct SixteenLanes<16> {
    using Type = Float16;
};
template <>
struct SixteenLanes<8> {
    using Type = Pair<Float8>;
};
template <>
struct SixteenLanes<4> {
    using Type = Pair<Pair<Float4>>;
};
using Floats = SixteenLanes<Registers::lanes>::Type;

template <class T>
constexpr bool is_pair = false;
template <class Half>
constexpr bool is_pair<Pair<Half>> = true;

template <class Half>
POCKETMT_INLINE Pair<Half> operator+(Pair<Half> a, Pair<Half> b) {
    return {a.low + b.low, a.high + b.high};
}
template <class Half>
POCKETMT_INLINE Pair<Half> operator-(Pair<Half> a, Pair<Half> b) {
    return {a.low - b.low, a.high - b.high};
}
template <class Half>
POCKETMT_INLINE Pair<Half> operator*(Pair<Half> a, Pair<Half> b) {
    return {a.low * b.low, a.high * b.high};
}
template <class Half>
POCKETMT_INLINE Pair<Half> operator/(Pair<Half> a, Pair<Half> b) {
    return {a.low / b.low, a.high / b.high};
}
template <class Half>
POCKETMT_INLINE Pair<Half>& operator+=(Pair<Half>& a, Pair<Half> b) {
    return a = a + b;
}

// Pairs are copied register by register: GCC copies a whole structure through memory, 16 bytes at a time.
template <class T = Floats>
POCKETMT_INLINE T load(const float* from) {
    if constexpr (is_pair<T>) {
        using Half = decltype(T::low);
        return {load<Half>(from), load<Half>(from + sizeof(Half) / sizeof(float))};
    } else {
        T value;
        __builtin_memcpy(&value, from, sizeof value);
        return value;
    }
}

template <class T>
POCKETMT_INLINE void store(float* to, T value) {
    if constexpr (is_pair<T>) {
        store(to, value.low);
        store(to + sizeof(value.low) / sizeof(float), value.high);
    } else {
        __builtin_memcpy(to, &value, sizeof value);
    }
}

// Loads the first `count` of 16 lanes; the others are `otherwise`, and memory beyond them is not read.
POCKETMT_INLINE Floats load_first(const float* from, size_t count, float otherwise = 0.0f) {
    float copy[lanes];
    for (size_t lane = 0; lane < lanes; ++lane) copy[lane] = lane < count ? from[lane] : otherwise;
    return load(copy);
}

POCKETMT_INLINE void store_first(float* to, size_t count, Floats value) {
    float copy[lanes];
    store(copy, value);
    for (size_t lane = 0; lane < count; ++lane) to[lane] = copy[lane];
}

// Calls body(offset, load, store) for each 16 of `size` elements; the last ones are loaded and stored in part.
template <class Body>
POCKETMT_INLINE void for_lanes(size_t size, Body&& body) {
    size_t offset = 0;
    for (; offset + lanes <= size; offset += lanes) {
        body(
            offset, [](const float* from) POCKETMT_INLINE_LAMBDA { return load(from); },
            [](float* to, Floats value) POCKETMT_INLINE_LAMBDA { store(to, value); });
    }
    if (const size_t rest = size - offset) {
        body(
            offset, [rest](const float* from) { return load_first(from, rest); },
            [rest](float* to, Floats value) { store_first(to, rest, value); });
    }
}

template <class T = Floats>
POCKETMT_INLINE T broadcast(float value) {
    if constexpr (is_pair<T>) {
        return {broadcast<decltype(T::low)>(value), broadcast<decltype(T::high)>(value)};
    } else {
        return value - T{};  // value + 0 would lose the sign of -0.
    }
}

// a > b ? then : otherwise, lane by lane.
template <class T>
POCKETMT_INLINE T where_greater(T a, T b, T then, T otherwise) {
    if constexpr (is_pair<T>) {
        return {where_greater(a.low, b.low, then.low, otherwise.low),
                where_greater(a.high, b.high, then.high, otherwise.high)};
    } else {
        return a > b ? then : otherwise;
    }
}

POCKETMT_INLINE Float4 maximum(Float4 a, Float4 b) {
    return a > b ? a : b;
}
template <class Half>
POCKETMT_INLINE Pair<Half> maximum(Pair<Half> a, Pair<Half> b) {
    return {maximum(a.low, b.low), maximum(a.high, b.high)};
}

POCKETMT_INLINE bool any_greater(Float4 a, Float4 b) {
    typedef long long Words __attribute__((vector_size(16)));
    const Words greater = (Words)(a > b);
    return (greater[0] | greater[1]) != 0;
}
template <class Half>
POCKETMT_INLINE bool any_greater(Pair<Half> a, Pair<Half> b) {
    return any_greater(a.low, b.low) || any_greater(a.high, b.high);
}

template <class T>
POCKETMT_INLINE T absolute(T value) {
    if constexpr (is_pair<T>) {
        return {absolute(value.low), absolute(value.high)};
    } else {
        typedef int32_t Bits __attribute__((vector_size(sizeof(T))));
        return (T)((Bits)value & 0x7fffffff);
    }
}

// Adding this rounds |x| < 2^22 to the nearest integer (ties to even), which then stands in the low bits of the sum.
constexpr float rounding_shift = 12582912.0f;  // 1.5 * 2^23

// value * 2^n, where both are normal numbers, given n + rounding_shift.
template <class T>
POCKETMT_INLINE T times_power_of_two(T value, T shifted) {
    if constexpr (is_pair<T>) {
        return {times_power_of_two(value.low, shifted.low), times_power_of_two(value.high, shifted.high)};
    } else {
        // Unsigned, because the exponent of a negative n wraps round.
        typedef uint32_t Bits __attribute__((vector_size(sizeof(T))));
        return (T)((Bits)value + ((Bits)shifted << 23));
    }
}

// Combines the lower and upper half of a register by addition or maximum, down to four lanes.
template <class Combine>
POCKETMT_INLINE Float4 fold(Float4 value, Combine&&) {
    return value;
}
template <class Combine>
POCKETMT_INLINE Float4 fold(Float8 value, Combine&& combine) {
    return combine(__builtin_shufflevector(value, value, 0, 1, 2, 3),
                   __builtin_shufflevector(value, value, 4, 5, 6, 7));
}
template <class Combine>
POCKETMT_INLINE Float4 fold(Float16 value, Combine&& combine) {
    return fold(combine(__builtin_shufflevector(value, value, 0, 1, 2, 3, 4, 5, 6, 7),
                        __builtin_shufflevector(value, value, 8, 9, 10, 11, 12, 13, 14, 15)),
                combine);
}
template <class Half, class Combine>
POCKETMT_INLINE Float4 fold(Pair<Half> value, Combine&& combine) {
    return fold(combine(value.low, value.high), combine);
}

struct Sum {
    template <class T>
    POCKETMT_INLINE T operator()(T a, T b) const {
        return a + b;
    }
};
struct Maximum {
    template <class T>
    POCKETMT_INLINE T operator()(T a, T b) const {
        return maximum(a, b);
    }
};

POCKETMT_INLINE float sum_of_lanes(Floats value) {
    const Float4 four = fold(value, Sum{});
    return (four[0] + four[2]) + (four[1] + four[3]);
}

// The sums of four vectors, each in the order of sum_of_lanes.
POCKETMT_INLINE Float4 sums_of_lanes(Floats a, Floats b, Floats c, Floats d) {
    const Float4 w = fold(a, Sum{}), x = fold(b, Sum{}), y = fold(c, Sum{}), z = fold(d, Sum{});
    const Float4 wx = __builtin_shufflevector(w, x, 0, 1, 4, 5) + __builtin_shufflevector(w, x, 2, 3, 6, 7);
    const Float4 yz = __builtin_shufflevector(y, z, 0, 1, 4, 5) + __builtin_shufflevector(y, z, 2, 3, 6, 7);
    return __builtin_shufflevector(wx, yz, 0, 2, 4, 6) + __builtin_shufflevector(wx, yz, 1, 3, 5, 7);
}

POCKETMT_INLINE float greatest_lane(Floats value) {
    const Float4 four = fold(value, Maximum{});
    const float even = four[0] > four[2] ? four[0] : four[2];
    const float odd = four[1] > four[3] ? four[1] : four[3];
    return even > odd ? even : odd;
}

// Stores 16 integers, given as integer + rounding_shift, as bytes.
template <class Sixteen, class Chosen = Registers>
POCKETMT_INLINE void store_bytes(int8_t* to, Sixteen shifted) {
    if constexpr (requires { Chosen::store_low_bytes(to, shifted); }) {
        Chosen::store_low_bytes(to, shifted);
    } else {
        int32_t words[lanes];
        __builtin_memcpy(words, &shifted, sizeof words);
        for (size_t lane = 0; lane < lanes; ++lane) to[lane] = static_cast<int8_t>(words[lane]);
    }
}

}  // namespace
}  // namespace pocketmt
