// What the instruction sets of NEON share: the dot product of signed bytes (Armv8.2), which adds four products to each
// 32-bit lane.
#pragma once

#include "registers/vectors.h"

namespace pocketmt {
namespace {

// Bits of AT_HWCAP and of AT_HWCAP2.
constexpr uint64_t has_dot_product = 1 << 20;     // HWCAP_ASIMDDP
constexpr uint64_t has_matrix_product = 1 << 13;  // HWCAP2_I8MM

struct RegistersNeon : VectorRegisters<4> {
    // There are 32 registers: 24 sums of the fp32 and integer products, and the rest for weights and activations.
    static constexpr size_t float_outputs = 32;
    static constexpr size_t float_rows = 3;
    static constexpr size_t integer_rows = 3;
    static constexpr size_t row_lookup_rows = 4;
    static constexpr size_t expanding_six_bit_rows = integer_rows + 1;
    static constexpr size_t expanding_table_rows = integer_rows + 1;
    static constexpr size_t parts_at_once = 1;
    static constexpr size_t two_chain_rows = 0;

    POCKETMT_INLINE static Floats to_floats(Integers values) { return vcvtq_f32_s32(values); }
    POCKETMT_INLINE static Floats positive(Floats values) { return vmaxnmq_f32(values, vdupq_n_f32(0.0f)); }
    POCKETMT_INLINE static Floats multiply_add(Floats a, Floats b, Floats sums) { return vfmaq_f32(sums, a, b); }

    POCKETMT_INLINE static Bytes repeat(const void* sixteen) { return vld1q_u8(static_cast<const uint8_t*>(sixteen)); }
    POCKETMT_INLINE static Bytes look_up(Bytes table, Bytes indices) { return vqtbl1q_u8(table, indices); }
    POCKETMT_INLINE static Integers add_up(const Integers (&sums)[4]) {
        return vpaddq_s32(vpaddq_s32(sums[0], sums[1]), vpaddq_s32(sums[2], sums[3]));
    }
    inline static int32_t sum_codes(const int8_t* codes, size_t columns) {
        int32x4_t sum = vdupq_n_s32(0);
        for (size_t column = 0; column < columns; column += bytes)
            sum = vdotq_s32(sum, vdupq_n_s8(1), vld1q_s8(codes + column));
        return vaddvq_s32(sum);
    }
    // Shifts bytes, not words as elsewhere.
    template <size_t half>
    POCKETMT_INLINE static Bytes nibbles(Bytes values) {
        return half == 0 ? vandq_u8(values, vdupq_n_u8(15)) : vshrq_n_u8(values, 4);
    }

    // In one instruction, for a `low` without the bits of the mask.
    POCKETMT_INLINE static Bytes insert(Bytes low, Bytes high, uint8_t mask) {
        return vbslq_u8(vdupq_n_u8(mask), high, low);
    }

    using Step = int8x8_t;
    POCKETMT_INLINE static Step load_step(const int8_t* codes) { return vld1_s8(codes); }
    template <size_t group>
    struct GroupInputs {
        int8x8_t codes;
    };
    template <size_t group>
    POCKETMT_INLINE static GroupInputs<group> group_inputs(Step codes) {
        return {codes};
    }
    POCKETMT_INLINE static int8x16_t sixteen_inputs(const int8_t* codes) { return vld1q_s8(codes); }

    struct SignedWeights {
        static constexpr int32_t zero = 0;
        int8x16_t weights;

        SignedWeights() = default;
        explicit SignedWeights(Bytes given) : weights(vreinterpretq_s8_u8(given)) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t) { return Integers{}; }
        // Assembly, because GCC 12 moves the intrinsic's sums from register to register and runs out of them.
        template <size_t group>
        POCKETMT_INLINE void add(Integers& sums, GroupInputs<group> inputs) const {
            __asm__("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(sums) : "w"(weights), "w"(inputs.codes), "i"(group));
        }
        POCKETMT_INLINE void add(Integers& sums, int8x16_t inputs) const { sums = vdotq_s32(sums, weights, inputs); }
    };
    struct SixBitWeights : SignedWeights {
        static constexpr int32_t zero = 32;

        SixBitWeights() = default;
        explicit SixBitWeights(Bytes codes) : SignedWeights(codes) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t activation_sum) {
            return broadcast(-zero * activation_sum);
        }
    };

    struct ByteSums {
        uint16x8_t first = vdupq_n_u16(0);
        uint16x8_t second = vdupq_n_u16(0);

        POCKETMT_INLINE void add(Bytes values) {
            first = vaddw_u8(first, vget_low_u8(values));
            second = vaddw_high_u8(second, values);
        }
        POCKETMT_INLINE void widen(Integers (&sums)[4]) const {
            sums[0] = (Integers)vmovl_u16(vget_low_u16(first));
            sums[1] = (Integers)vmovl_high_u16(first);
            sums[2] = (Integers)vmovl_u16(vget_low_u16(second));
            sums[3] = (Integers)vmovl_high_u16(second);
        }
    };

    static void fill_subset_sums(const int8_t* codes, uint8_t* table, int8_t high_offset) {
        const uint8x16_t entries = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        uint8x16_t low = vdupq_n_u8(0), high = vdupq_n_u8(high_offset);
        unrolled<4>([&](auto input) POCKETMT_INLINE_LAMBDA {
            const int code = codes[input()];
            const uint8x16_t chosen = vtstq_u8(entries, vdupq_n_u8(1 << input()));
            low = vaddq_u8(low, vandq_u8(chosen, vdupq_n_u8(static_cast<uint8_t>(code & 15))));
            high = vaddq_u8(high, vandq_u8(chosen, vdupq_n_u8(static_cast<uint8_t>(code >> 4))));
        });
        vst1q_u8(table, low);
        vst1q_u8(table + 16, high);
    }
};

}  // namespace
}  // namespace pocketmt
