// WebAssembly with relaxed SIMD, whose dot product of bytes is one instruction on many processors. It is exact as long
// as its second operand is from 0 to 127: then neither signs nor 16-bit sums of two products differ between hosts.
#pragma once

#include "registers/wasm_128_bit.h"

namespace pocketmt {
namespace {

struct Registers : WasmRegisters {
    POCKETMT_INLINE static Bytes look_up(Bytes table, Bytes indices) {
        return (Bytes)wasm_i8x16_relaxed_swizzle((v128_t)table, (v128_t)indices);
    }

    // Weights from -127 to 127: |weight| times the activation where the weight is positive, else times the activation's
    // complement, -activation - 1. The sums therefore begin with the magnitudes of the negative weights.
    struct SignedWeights {
        static constexpr int32_t zero = 0;
        v128_t magnitudes, negative;

        SignedWeights() = default;
        explicit SignedWeights(Bytes given)
            : magnitudes(wasm_i8x16_abs((v128_t)given)), negative(wasm_i8x16_gt(zeros(), (v128_t)given)) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t* negative_sums, size_t output, int32_t) {
            return load(negative_sums + output);
        }
        POCKETMT_INLINE void add(Integers& sums, Bytes inputs) const {
            sums = dot(wasm_v128_xor((v128_t)inputs, negative), magnitudes, sums);
        }
    };
    struct AnyWeights : WideWeights {
        AnyWeights() = default;
        explicit AnyWeights(Bytes given) : WideWeights(given) {}
        POCKETMT_INLINE void add(Integers& sums, Bytes inputs) const { WideWeights::add(sums, WideInputs(inputs)); }
    };
    // Codes of 6 bits.
    struct SixBitWeights {
        static constexpr int32_t zero = 32;
        v128_t codes;

        SixBitWeights() = default;
        explicit SixBitWeights(Bytes given) : codes((v128_t)given) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t activation_sum) {
            return broadcast(-zero * activation_sum);
        }
        POCKETMT_INLINE void add(Integers& sums, Bytes inputs) const { sums = dot((v128_t)inputs, codes, sums); }
    };
    using Inputs = Bytes;
    template <size_t group>
    POCKETMT_INLINE static Inputs group_inputs(Step codes) {
        return four_inputs<group>(codes);
    }
    POCKETMT_INLINE static Inputs sixteen_inputs(const int8_t* codes) { return repeat(codes); }

  private:
    // Zeros that the compiler does not know: it would replace the comparison with a shift of bytes, which x86 lacks.
    POCKETMT_INLINE static v128_t zeros() {
        v128_t value = wasm_i8x16_const_splat(0);
        __asm__("" : "+r"(value));
        return value;
    }
    POCKETMT_INLINE static Integers dot(v128_t inputs, v128_t codes, Integers sums) {
        return (Integers)wasm_i32x4_relaxed_dot_i8x16_i7x16_add(inputs, codes, (v128_t)sums);
    }
};

}  // namespace
}  // namespace pocketmt
