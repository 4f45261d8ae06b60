// Registers of WebAssembly's 128-bit SIMD: all but the operations that relaxed SIMD replaces.
#pragma once

#include "registers/vectors.h"

namespace pocketmt {
namespace {

struct WasmRegisters : VectorRegisters<4> {
    static constexpr CpuRequirements requirements{};
    // x86 has 16 registers: 12 sums of the fp32 product. The sums of the integer products of many rows lie in memory,
    // because these rows share the widening of the weights.
    static constexpr size_t float_outputs = 16;
    static constexpr size_t float_rows = 3;
    static constexpr size_t integer_rows = 8;
    static constexpr size_t row_lookup_rows = 8;
    static constexpr bool unrolls_rows = false;
    static constexpr size_t parts_at_once = 1;
    static constexpr size_t two_chain_rows = 0;

    POCKETMT_INLINE static Floats to_floats(Integers values) { return __builtin_convertvector(values, Floats); }
    POCKETMT_INLINE static Floats positive(Floats values) {
        return (Floats)wasm_f32x4_pmax(wasm_f32x4_const_splat(0.0f), (v128_t)values);
    }
    POCKETMT_INLINE static Floats multiply_add(Floats a, Floats b, Floats sums) { return sums + a * b; }

    template <class Pairs>
    POCKETMT_INLINE static void store_low_bytes(int8_t* to, Pairs values) {
        const v128_t mask = wasm_i32x4_const_splat(0xff);
        const auto low = [mask](auto four) { return wasm_v128_and((v128_t)four, mask); };
        const v128_t first = wasm_u16x8_narrow_i32x4(low(values.low.low), low(values.low.high));
        const v128_t second = wasm_u16x8_narrow_i32x4(low(values.high.low), low(values.high.high));
        wasm_v128_store(to, wasm_u8x16_narrow_i16x8(first, second));
    }

    POCKETMT_INLINE static Bytes repeat(const void* sixteen) { return load(static_cast<const uint8_t*>(sixteen)); }
    POCKETMT_INLINE static Integers add_up(const Integers (&sums)[4]) {
        return added_pairs(added_pairs(sums[0], sums[1]), added_pairs(sums[2], sums[3]));
    }
    inline static int32_t sum_codes(const int8_t* codes, size_t columns) {
        Integers sum{};
        for (size_t column = 0; column < columns; column += bytes) {
            const v128_t pairs = wasm_i16x8_extadd_pairwise_i8x16(wasm_v128_load(codes + column));
            sum += (Integers)wasm_i32x4_extadd_pairwise_i16x8(pairs);
        }
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }

    using Step = const int8_t*;
    POCKETMT_INLINE static Step load_step(const int8_t* codes) { return codes; }
    template <size_t group>
    POCKETMT_INLINE static Bytes four_inputs(Step codes) {
        return (Bytes)wasm_v128_load32_splat(codes + 4 * group);
    }

    // Bytes in 16 bits, those of even and of odd places. Two products of each lane are added exactly.
    struct WideInputs {
        v128_t even, odd;

        WideInputs() = default;
        explicit WideInputs(Bytes values)
            : even(wasm_i16x8_shr(wasm_i16x8_shl((v128_t)values, 8), 8)), odd(wasm_i16x8_shr((v128_t)values, 8)) {}
    };
    struct WideWeights {
        static constexpr int32_t zero = 0;
        WideInputs weights;

        WideWeights() = default;
        explicit WideWeights(Bytes given) : weights(given) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t) { return Integers{}; }
        POCKETMT_INLINE void add(Integers& sums, const WideInputs& inputs) const {
            sums += (Integers)wasm_i32x4_add(wasm_i32x4_dot_i16x8(weights.even, inputs.even),
                                             wasm_i32x4_dot_i16x8(weights.odd, inputs.odd));
        }
    };

    struct ByteSums {
        v128_t even = wasm_i16x8_const_splat(0);  // Of even bytes, + 256 * odd, modulo 2^16.
        v128_t odd = wasm_i16x8_const_splat(0);

        POCKETMT_INLINE void add(Bytes values) {
            even = wasm_i16x8_add(even, (v128_t)values);
            odd = wasm_i16x8_add(odd, wasm_u16x8_shr((v128_t)values, 8));
        }
        POCKETMT_INLINE void widen(Integers (&sums)[4]) const {
            const v128_t alone = wasm_i16x8_sub(even, wasm_i16x8_shl(odd, 8));
            const v128_t first = wasm_i16x8_shuffle(alone, odd, 0, 8, 1, 9, 2, 10, 3, 11);
            const v128_t second = wasm_i16x8_shuffle(alone, odd, 4, 12, 5, 13, 6, 14, 7, 15);
            sums[0] = (Integers)wasm_u32x4_extend_low_u16x8(first);
            sums[1] = (Integers)wasm_u32x4_extend_high_u16x8(first);
            sums[2] = (Integers)wasm_u32x4_extend_low_u16x8(second);
            sums[3] = (Integers)wasm_u32x4_extend_high_u16x8(second);
        }
    };

    static void fill_subset_sums(const int8_t* codes, uint8_t* table, int8_t high_offset) {
        const Bytes entries = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        Bytes low = {}, high = static_cast<uint8_t>(high_offset) - Bytes{};
        unrolled<4>([&](auto input) POCKETMT_INLINE_LAMBDA {
            const int code = codes[input()];
            const Bytes chosen = (Bytes)((entries & (1 << input())) != 0);
            low += chosen & static_cast<uint8_t>(code & 15);
            high += chosen & static_cast<uint8_t>(code >> 4);
        });
        store_bytes(table, low);
        store_bytes(table + bytes, high);
    }

  private:
    POCKETMT_INLINE static void store_bytes(uint8_t* to, Bytes values) { __builtin_memcpy(to, &values, bytes); }
    // Sums of neighbouring lanes, those of `a` first.
    POCKETMT_INLINE static Integers added_pairs(Integers a, Integers b) {
        return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
    }
};

}  // namespace
}  // namespace pocketmt
