// WebAssembly with 128-bit SIMD.
#pragma once

#include "registers/wasm_128_bit.h"

namespace pocketmt {
namespace {

struct Registers : WasmRegisters {
    POCKETMT_INLINE static Bytes look_up(Bytes table, Bytes indices) {
        return (Bytes)wasm_i8x16_swizzle((v128_t)table, (v128_t)indices);
    }

    struct SignedWeights : WideWeights {
        SignedWeights() = default;
        explicit SignedWeights(Bytes given) : WideWeights(given) {}
    };
    struct SixBitWeights : WideWeights {
        SixBitWeights() = default;
        explicit SixBitWeights(Bytes codes) : WideWeights(codes - 32) {}
    };
    using Inputs = WideInputs;
    template <size_t group>
    POCKETMT_INLINE static Inputs group_inputs(Step codes) {
        return Inputs(four_inputs<group>(codes));
    }
    POCKETMT_INLINE static Inputs sixteen_inputs(const int8_t* codes) { return Inputs(repeat(codes)); }
};

}  // namespace
}  // namespace pocketmt
