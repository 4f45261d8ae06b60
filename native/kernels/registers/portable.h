// Any processor: 128-bit vectors that the compiler translates into whatever the baseline offers.
#pragma once

#include "registers/vectors.h"

namespace pocketmt {
namespace {

struct Registers : VectorRegisters<4> {
    static constexpr CpuRequirements requirements{};
    static constexpr size_t float_outputs = 16;
    static constexpr size_t float_rows = 3;
    // The sums of the integer products lie in memory: decoding weights takes longer than adding to them, so that many
    // rows share it.
    static constexpr size_t integer_rows = 8;
    static constexpr size_t row_lookup_rows = 8;
    static constexpr bool unrolls_rows = false;
    static constexpr size_t parts_at_once = 8;
    static constexpr size_t two_chain_rows = 0;

    POCKETMT_INLINE static Floats to_floats(Integers values) { return __builtin_convertvector(values, Floats); }
    POCKETMT_INLINE static Floats positive(Floats values) { return values > 0.0f ? values : Floats{}; }
    POCKETMT_INLINE static Floats multiply_add(Floats a, Floats b, Floats sums) { return sums + a * b; }

    POCKETMT_INLINE static Bytes repeat(const void* sixteen) { return load(static_cast<const uint8_t*>(sixteen)); }
#if defined(__aarch64__)
    // Every AArch64 processor has the instruction. GCC does not find it in a loop.
    POCKETMT_INLINE static Bytes look_up(Bytes table, Bytes indices) { return vqtbl1q_u8(table, indices); }
#else
    static Bytes look_up(Bytes table, Bytes indices) {
        uint8_t entries[bytes], places[bytes];
        __builtin_memcpy(entries, &table, bytes);
        __builtin_memcpy(places, &indices, bytes);
        // Whole words, because a load of all bytes would wait for the stores of single ones.
        uint64_t found[2] = {};
#pragma GCC unroll 1
        for (size_t index = 8; index-- > 0;) {
            found[0] = found[0] << 8 | entries[places[index]];
            found[1] = found[1] << 8 | entries[places[index + 8]];
        }
        return load(reinterpret_cast<const uint8_t*>(found));
    }
#endif
    POCKETMT_INLINE static Integers add_up(const Integers (&sums)[4]) {
        return added_pairs(added_pairs(sums[0], sums[1]), added_pairs(sums[2], sums[3]));
    }
    inline static int32_t sum_codes(const int8_t* codes, size_t columns) {
        int32_t sum = 0;
        for (size_t column = 0; column < columns; ++column) sum += codes[column];
        return sum;
    }

    typedef int16_t Words __attribute__((vector_size(16)));
    typedef uint16_t UnsignedWords __attribute__((vector_size(16)));
    struct Inputs {
        Words low, high;
    };
    using Step = const int8_t*;
    POCKETMT_INLINE static Step load_step(const int8_t* codes) { return codes; }
    template <size_t group>
    POCKETMT_INLINE static Inputs group_inputs(Step codes) {
        int32_t four;
        __builtin_memcpy(&four, codes + 4 * group, sizeof four);
        return widened((Bytes)broadcast(four));
    }
    POCKETMT_INLINE static Inputs sixteen_inputs(const int8_t* codes) { return widened(repeat(codes)); }

    struct SignedWeights {
        static constexpr int32_t zero = 0;
        Inputs weights;

        SignedWeights() = default;
        explicit SignedWeights(Bytes given) : weights(widened(given)) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t) { return Integers{}; }
        POCKETMT_INLINE void add(Integers& sums, const Inputs& inputs) const {
            sums += added_pairs(pairs(weights.low * inputs.low), pairs(weights.high * inputs.high));
        }
    };
    struct SixBitWeights : SignedWeights {
        SixBitWeights() = default;
        explicit SixBitWeights(Bytes codes) : SignedWeights(codes - 32) {}
    };

    struct ByteSums {
        UnsignedWords first = {}, second = {};

        POCKETMT_INLINE void add(Bytes values) {
            first += (UnsignedWords)lower_interleaved(values, Bytes{});
            second += (UnsignedWords)upper_interleaved(values, Bytes{});
        }
        POCKETMT_INLINE void widen(Integers (&sums)[4]) const {
            sums[0] = (Integers)__builtin_shufflevector(first, UnsignedWords{}, 0, 8, 1, 9, 2, 10, 3, 11);
            sums[1] = (Integers)__builtin_shufflevector(first, UnsignedWords{}, 4, 12, 5, 13, 6, 14, 7, 15);
            sums[2] = (Integers)__builtin_shufflevector(second, UnsignedWords{}, 0, 8, 1, 9, 2, 10, 3, 11);
            sums[3] = (Integers)__builtin_shufflevector(second, UnsignedWords{}, 4, 12, 5, 13, 6, 14, 7, 15);
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
        __builtin_memcpy(table, &low, bytes);
        __builtin_memcpy(table + bytes, &high, bytes);
    }

  private:
    // Each byte in the upper half of a word, then shifted down with its sign.
    POCKETMT_INLINE static Inputs widened(Bytes values) {
        return {(Words)lower_interleaved(Bytes{}, values) >> 8, (Words)upper_interleaved(Bytes{}, values) >> 8};
    }
    POCKETMT_INLINE static Bytes lower_interleaved(Bytes a, Bytes b) {
        return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    }
    POCKETMT_INLINE static Bytes upper_interleaved(Bytes a, Bytes b) {
        return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    // Sums of neighbouring words.
    POCKETMT_INLINE static Integers pairs(Words products) {
        return ((Integers)products << 16 >> 16) + ((Integers)products >> 16);
    }
    // Sums of neighbouring lanes, those of `a` first.
    POCKETMT_INLINE static Integers added_pairs(Integers a, Integers b) {
        return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
    }
};

}  // namespace
}  // namespace pocketmt
