// NEON with the matrix product of signed bytes (Armv8.6, optional from Armv8.2), which multiplies two rows of
// activations by two outputs: twice the products of the dot product.
#pragma once

#include "registers/neon.h"

namespace pocketmt {
namespace {

struct Registers : RegistersNeon {
    static constexpr CpuRequirements requirements{.hardware_capabilities = {has_dot_product, has_matrix_product}};
    // Three pairs of rows by half a panel have 24 sums.
    static constexpr size_t integer_rows = 6;
    static constexpr size_t row_lookup_rows = 8;
    // The rows of more than one tile share the order of the weights.
    static constexpr size_t expanding_rows = integer_rows + 1;
    static constexpr size_t expanding_six_bit_rows = integer_rows + 1;
    static constexpr size_t expanding_table_rows = integer_rows + 1;

    using RowPair = int8x16_t;
    POCKETMT_INLINE static RowPair load_pair(const int8_t* first, const int8_t* second) {
        return vcombine_s8(vld1_s8(first), vld1_s8(second));
    }
    // The weights of 4 outputs and 8 inputs, two outputs in each register.
    struct PairWeights {
        int8x16_t outputs[2];

        // The first or second 8 inputs of registers that each have 16 of one output.
        template <size_t half>
        POCKETMT_INLINE static PairWeights of_outputs(const SignedWeights (&given)[4]) {
            PairWeights weights;
            unrolled<2>([&](auto pair) POCKETMT_INLINE_LAMBDA {
                const auto first = vreinterpretq_s64_s8(given[2 * pair()].weights);
                const auto second = vreinterpretq_s64_s8(given[2 * pair() + 1].weights);
                weights.outputs[pair()] =
                    vreinterpretq_s8_s64(half == 0 ? vzip1q_s64(first, second) : vzip2q_s64(first, second));
            });
            return weights;
        }
        // The weights at weights[index], of which there are `count`.
        template <size_t index, size_t count>
        POCKETMT_INLINE static PairWeights loaded(const PairWeights* weights) {
            const auto& all = *reinterpret_cast<const PairWeights(*)[count]>(weights);
            PairWeights result;
            __asm__ volatile("ldp %q0, %q1, [%2, %3]"
                             : "=w"(result.outputs[0]), "=w"(result.outputs[1])
                             : "r"(weights), "i"(index * sizeof(PairWeights)), "m"(all));
            return result;
        }
        PairWeights() = default;
        PairWeights(SignedWeights group0, SignedWeights group1) {
            const int32x4_t low = vreinterpretq_s32_s8(group0.weights), high = vreinterpretq_s32_s8(group1.weights);
            outputs[0] = vreinterpretq_s8_s32(vzip1q_s32(low, high));
            outputs[1] = vreinterpretq_s8_s32(vzip2q_s32(low, high));
        }
    };
    // Sums of two rows and 4 outputs: in each register those of two outputs, the first row's before the second's.
    struct PairSums {
        int32x4_t outputs[2];

        POCKETMT_INLINE static PairSums of_rows(Integers first, Integers second) {
            const int64x2_t low = vreinterpretq_s64_s32(first), high = vreinterpretq_s64_s32(second);
            return {{vreinterpretq_s32_s64(vzip1q_s64(low, high)), vreinterpretq_s32_s64(vzip2q_s64(low, high))}};
        }
        POCKETMT_INLINE void add(RowPair rows, const PairWeights& weights) {
            outputs[0] = vmmlaq_s32(outputs[0], rows, weights.outputs[0]);
            outputs[1] = vmmlaq_s32(outputs[1], rows, weights.outputs[1]);
        }
        // As add. Volatile assembly, here and in `loaded`, stays in its order: GCC 12 moves the loads of a step before
        // the first product, and runs out of registers.
        POCKETMT_INLINE void add_in_order(RowPair rows, const PairWeights& weights) {
            __asm__ volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(outputs[0]) : "w"(rows), "w"(weights.outputs[0]));
            __asm__ volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(outputs[1]) : "w"(rows), "w"(weights.outputs[1]));
        }
        template <size_t row>
        POCKETMT_INLINE Integers of_row() const {
            const int64x2_t first = vreinterpretq_s64_s32(outputs[0]), second = vreinterpretq_s64_s32(outputs[1]);
            return vreinterpretq_s32_s64(row == 0 ? vzip1q_s64(first, second) : vzip2q_s64(first, second));
        }
    };
};

}  // namespace
}  // namespace pocketmt
