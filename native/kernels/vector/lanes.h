// Sixteen float lanes, the same on every instruction set: one 64-byte register, two of 32 bytes or four of 16. Every
// function of the vector family is written once on these; with contraction off (no fused multiply-add) and one fixed
// order of reduction they give the same bits everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "intrinsics.h"
#include "shapes.h"

namespace pocketmt {
namespace {

constexpr size_t lanes = 16;

typedef float Float4 __attribute__((vector_size(16)));
typedef float Float8 __attribute__((vector_size(32)));
typedef float Float16 __attribute__((vector_size(64)));

template <class Half>
struct Pair {
    Half low;
    Half high;
};

#if defined(__AVX512F__)
using Floats = Float16;
#elif defined(__AVX2__)
using Floats = Pair<Float8>;
#else
using Floats = Pair<Pair<Float4>>;
#endif

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

template <class T = Floats>
POCKETMT_INLINE T load(const float* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
POCKETMT_INLINE void store(float* to, T value) {
    __builtin_memcpy(to, &value, sizeof value);
}

// The first `count` of 16 lanes; the others are `otherwise`, and memory beyond them is not touched.
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

// body(offset, load, store) for each 16 elements of `size`, the last of them by partial loads and stores.
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
        return value - T{};  // not value + 0, which would lose the sign of -0
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
#if defined(__AVX2__)
POCKETMT_INLINE Float8 maximum(Float8 a, Float8 b) {
    return _mm256_max_ps(a, b);
}
#endif
#if defined(__AVX512F__)
POCKETMT_INLINE Float16 maximum(Float16 a, Float16 b) {
    return _mm512_max_ps(a, b);
}
#endif
template <class Half>
POCKETMT_INLINE Pair<Half> maximum(Pair<Half> a, Pair<Half> b) {
    return {maximum(a.low, b.low), maximum(a.high, b.high)};
}

POCKETMT_INLINE bool any_greater(Float4 a, Float4 b) {
    typedef long long Words __attribute__((vector_size(16)));
    const Words greater = (Words)(a > b);
    return (greater[0] | greater[1]) != 0;
}
#if defined(__AVX2__)
POCKETMT_INLINE bool any_greater(Float8 a, Float8 b) {
    return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)) != 0;
}
#endif
#if defined(__AVX512F__)
POCKETMT_INLINE bool any_greater(Float16 a, Float16 b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) != 0;
}
#endif
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
        // Unsigned: the exponent of a negative n wraps round.
        typedef uint32_t Bits __attribute__((vector_size(sizeof(T))));
        return (T)((Bits)value + ((Bits)shifted << 23));
    }
}

// The upper and lower half of a register, combined by `add` or `maximum`, down to four lanes; then lanes (0,2) (1,3),
// then both.
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
POCKETMT_INLINE void store_bytes(int8_t* to, Floats shifted) {
#if defined(__AVX512F__)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(_mm512_castps_si512(shifted)));
#else
    int32_t words[lanes];
    __builtin_memcpy(words, &shifted, sizeof words);
    for (size_t lane = 0; lane < lanes; ++lane) to[lane] = static_cast<int8_t>(words[lane]);
#endif
}

}  // namespace
}  // namespace pocketmt
