// AVX2 with FMA. Its byte multiplication, vpmaddubsw, multiplies unsigned by signed bytes and adds pairs of products in
// 16 bits, which must not saturate. Products are added in assembly, because GCC 12 computes many before it adds the
// first, and runs out of registers.
#pragma once

#include "cpu.h"
#include "registers/x86_256_bit.h"

namespace pocketmt {
namespace {

struct Registers : Registers256 {
    static constexpr CpuRequirements requirements{{has_avx, has_fma, has_avx2}, saves_avx};

    static constexpr size_t expanding_rows = 64;
    static constexpr size_t expanding_six_bit_rows = 16;
    static constexpr size_t expanding_table_rows = 5;
    static constexpr bool expands_tables = true;
    static constexpr size_t batch_rows = 24;  // Measured on Zen 3, which takes long to read weights from memory.
    static constexpr size_t parts_at_once = 4;
    static constexpr size_t two_stream_rows = 1;  // Zen 3 reads memory faster in two streams.
    // Measured: a Xeon of Intel is up to 1.7 times as fast with it, an EPYC of AMD slower.
    inline static bool few_rows_read_a_page_ahead() {
        static const bool reads = !is_of_amd();
        return reads;
    }

    // Whether one of the codes is negative; they are padded with zeros to a multiple of 64.
    inline static bool any_negative(const int8_t* codes, size_t columns) {
        __m256i either = _mm256_setzero_si256();
        for (size_t column = 0; column < columns; column += bytes)
            either = _mm256_or_si256(either, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + column)));
        return _mm256_movemask_epi8(either) != 0;
    }

    // 32 weights from -128 to 127: |weight| times the activation where the weight is positive, else times the
    // activation's complement, -activation - 1. The sums therefore begin with the magnitudes of the negative weights.
    // Two products are at least -2 * 128 * 128 and at most 2 * 128 * 127, which 16 bits hold.
    struct SignedWeights {
        static constexpr int32_t zero = 0;
        __m256i magnitudes, negative;

        SignedWeights() = default;
        explicit SignedWeights(Bytes weights)
            : magnitudes(_mm256_abs_epi8((__m256i)weights)),
              negative(_mm256_cmpgt_epi8(_mm256_setzero_si256(), (__m256i)weights)) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t* negative_sums, size_t output, int32_t) {
            return load(negative_sums + output);
        }
        POCKETMT_INLINE void add(Integers& sums, Bytes inputs) const {
            __m256i products;
            __asm__("vpxor %3, %2, %1\n\tvpmaddubsw %1, %4, %1\n\tvpmaddwd %5, %1, %1\n\tvpaddd %1, %0, %0"
                    : "+x"(sums), "=&x"(products)
                    : "x"(inputs), "xm"(negative), "x"(magnitudes), "xm"(ones()));
        }

        // Prepared weights, of which one half stays in memory: both halves and the sums of a tile would not fit the
        // registers.
        struct InMemory {
            __m256i magnitudes;
            const __m256i* negative;

            InMemory() = default;
            explicit InMemory(const SignedWeights& weights)
                : magnitudes(weights.magnitudes), negative(&weights.negative) {}
            POCKETMT_INLINE void add(Integers& sums, Bytes inputs) const {
                __m256i products;
                __asm__("vpxor %3, %2, %1\n\tvpmaddubsw %1, %4, %1\n\tvpmaddwd %5, %1, %1\n\tvpaddd %1, %0, %0"
                        : "+x"(sums), "=&x"(products)
                        : "x"(inputs), "m"(*negative), "x"(magnitudes), "x"(ones()));
            }
        };
    };

    // 32 weights from -127 to 127: |activation| times the weight with the activation's sign. Nothing is prepared for
    // each register of weights, so this is faster for few rows.
    struct SymmetricWeights {
        static constexpr int32_t zero = 0;
        struct Inputs {
            __m256i codes, magnitudes;
        };
        __m256i weights;

        SymmetricWeights() = default;
        explicit SymmetricWeights(Bytes given) : weights((__m256i)given) {}
        POCKETMT_INLINE static Inputs prepared(Bytes inputs) {
            return {(__m256i)inputs, _mm256_abs_epi8((__m256i)inputs)};
        }
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t) { return Integers{}; }
        POCKETMT_INLINE void add(Integers& sums, const Inputs& inputs) const {
            __m256i products;
            __asm__("vpsignb %3, %2, %1\n\tvpmaddubsw %1, %4, %1\n\tvpmaddwd %5, %1, %1\n\tvpaddd %1, %0, %0"
                    : "+x"(sums), "=&x"(products)
                    : "x"(weights), "xm"(inputs.codes), "x"(inputs.magnitudes), "xm"(ones()));
        }
    };

    // 32 weights from -128 to 127 in memory, for prepared activations: |activation| times the weight, or times its
    // complement, -weight - 1, where the activation is negative. The sums therefore begin with the magnitudes of the
    // negative activations. Two products are at least -2 * 128 * 128 and at most 2 * 128 * 127, which 16 bits hold.
    struct WeightsOfPrepared {
        static constexpr int32_t zero = 0;
        struct Inputs {
            __m256i magnitudes, signs;
        };
        const __m256i* weights;

        WeightsOfPrepared() = default;
        explicit WeightsOfPrepared(const uint8_t* given) : weights(reinterpret_cast<const __m256i*>(given)) {}

        // The magnitudes of each 8 activations, then their signs, 0 or -1.
        static constexpr size_t prepared_bytes = 2;
        inline static int32_t prepare(const int8_t* codes, size_t columns, int8_t* prepared) {
            __m256i sum = _mm256_setzero_si256();
            for (size_t column = 0; column < columns; column += bytes, prepared += prepared_bytes * bytes) {
                const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + column));
                const __m256i magnitudes = _mm256_abs_epi8(all), signs = _mm256_cmpgt_epi8(_mm256_setzero_si256(), all);
                const __m256i even = _mm256_unpacklo_epi64(magnitudes, signs),
                              odd = _mm256_unpackhi_epi64(magnitudes, signs);
                __m256i* to = reinterpret_cast<__m256i*>(prepared);
                _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
                _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
                const __m256i negative = _mm256_and_si256(magnitudes, signs);
                sum = _mm256_add_epi64(sum, _mm256_sad_epu8(negative, _mm256_setzero_si256()));
            }
            const Integers sums = (Integers)sum;
            return sums[0] + sums[2] + sums[4] + sums[6];
        }
        template <size_t group>
        POCKETMT_INLINE static Inputs load_prepared(const int8_t* step) {
            return {(__m256i)group_inputs<group>(step), (__m256i)group_inputs<group + 2>(step)};
        }
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t negative_magnitudes) {
            return broadcast(negative_magnitudes);
        }
        POCKETMT_INLINE void add(Integers& sums, const Inputs& inputs) const {
            __m256i products;
            __asm__("vpxor %2, %3, %1\n\tvpmaddubsw %1, %4, %1\n\tvpmaddwd %5, %1, %1\n\tvpaddd %1, %0, %0"
                    : "+x"(sums), "=&x"(products)
                    : "m"(*weights), "x"(inputs.signs), "x"(inputs.magnitudes), "x"(ones()));
        }
    };

    // 32 weights from -128 to 127, for activations that are not negative, such as those after relu: two products are at
    // least -2 * 127 * 128.
    struct WeightsOfNonNegative {
        static constexpr int32_t zero = 0;
        __m256i weights;

        WeightsOfNonNegative() = default;
        explicit WeightsOfNonNegative(Bytes given) : weights((__m256i)given) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t) { return Integers{}; }
        POCKETMT_INLINE void add(Integers& sums, Bytes inputs) const { add_unsigned(sums, (__m256i)inputs, weights); }
    };

    // 32 weights from -64 to 63, with 64 added: two products are at least -2 * 127 * 128.
    struct SevenBitWeights {
        static constexpr int32_t zero = 64;
        __m256i codes;

        SevenBitWeights() = default;
        explicit SevenBitWeights(Bytes given) : codes(_mm256_add_epi8((__m256i)given, _mm256_set1_epi8(zero))) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t activation_sum) {
            return broadcast(-zero * activation_sum);
        }
        POCKETMT_INLINE void add(Integers& sums, Bytes inputs) const { add_unsigned(sums, codes, (__m256i)inputs); }
    };

    // 32 codes of 6 bits: two products are at most 2 * 63 * 128.
    struct SixBitWeights {
        static constexpr int32_t zero = 32;
        __m256i codes;

        SixBitWeights() = default;
        explicit SixBitWeights(Bytes given) : codes((__m256i)given) {}
        POCKETMT_INLINE static Integers first_sums(const int32_t*, size_t, int32_t activation_sum) {
            return broadcast(-zero * activation_sum);
        }
        POCKETMT_INLINE void add(Integers& sums, Bytes inputs) const { add_unsigned(sums, codes, (__m256i)inputs); }
        // Four products are at most 4 * 63 * 128, so they are added before they are widened.
        POCKETMT_INLINE static void add_two(Integers& sums, const SixBitWeights& a, Bytes a_inputs,
                                            const SixBitWeights& b, Bytes b_inputs) {
            __m256i products, others;
            __asm__(
                "vpmaddubsw %3, %4, %1\n\tvpmaddubsw %5, %6, %2\n\tvpaddw %2, %1, %1\n\tvpmaddwd %7, %1, %1\n\t"
                "vpaddd %1, %0, %0"
                : "+x"(sums), "=&x"(products), "=&x"(others)
                : "x"(a_inputs), "x"(a.codes), "x"(b_inputs), "x"(b.codes), "xm"(ones()));
        }
    };

  private:
    // Adds products of unsigned by signed bytes, pairs of which fit 16 bits.
    POCKETMT_INLINE static void add_unsigned(Integers& sums, __m256i unsigned_bytes, __m256i signed_bytes) {
        __m256i products;
        __asm__("vpmaddubsw %2, %3, %1\n\tvpmaddwd %4, %1, %1\n\tvpaddd %1, %0, %0"
                : "+x"(sums), "=&x"(products)
                : "xm"(signed_bytes), "x"(unsigned_bytes), "xm"(ones()));
    }
    POCKETMT_INLINE static __m256i ones() { return _mm256_set1_epi16(1); }
};

}  // namespace
}  // namespace pocketmt
