// Products of log codes with AVX-512 VNNI: shifts of 16-bit lanes, as in paper L's Table 5 ("16-bit shift"), and the
// integer instructions that it compares them with.
#include "kernels/intrinsics.h"
#include "kernels/shapes.h"
#include "testing/log_products/products.h"

namespace pocketmt::testing::avx512_vnni {

namespace {

constexpr size_t lanes = 16;

// sums[k] += the products of codes k and 4 + k of each word; `a_exponents` has the exponents of a alone.
POCKETMT_INLINE void add_words(__m512i (&sums)[4], __m512i a, __m512i a_exponents, __m512i b) {
    const __m512i mask = _mm512_set1_epi32(static_cast<int>(exponent_bits));
    const __m512i exponents = _mm512_add_epi32(a_exponents, _mm512_and_si512(b, mask));
    const __m512i signs = _mm512_xor_si512(a, b);
    unrolled<4>([&](auto index) POCKETMT_INLINE_LAMBDA {
        constexpr int shift = 4 * static_cast<int>(index());
        __m512i exponent = exponents;
        if constexpr (shift > 0) exponent = _mm512_srli_epi16(exponent, shift);
        if constexpr (shift < 12) exponent = _mm512_and_si512(exponent, _mm512_set1_epi16(15));
        const __m512i magnitude = _mm512_srlv_epi16(_mm512_set1_epi16(largest_product), exponent);
        const __mmask32 negative = _mm512_test_epi16_mask(signs, _mm512_set1_epi16(static_cast<short>(8 << shift)));
        const __m512i product = _mm512_mask_sub_epi16(magnitude, negative, _mm512_setzero_si512(), magnitude);
        sums[index()] = _mm512_dpwssd_epi32(sums[index()], product, _mm512_set1_epi16(1));  // adds pairs in 32 bits
    });
}

POCKETMT_INLINE __m512i sum_of(const __m512i (&sums)[4]) {
    return _mm512_add_epi32(_mm512_add_epi32(sums[0], sums[1]), _mm512_add_epi32(sums[2], sums[3]));
}

void multiply(const ExponentMatrix& weights, const CodeWord* activations, float scale, float* out) {
    const size_t steps = weights.steps();
    const CodeWord* words = weights.words;
    for (size_t first = 0; first < weights.rows; first += exponent_panel_outputs) {
        __m512i sums[4] = {};
        for (size_t step = 0; step < steps; ++step, words += exponent_panel_outputs) {
            const __m512i a = _mm512_set1_epi32(static_cast<int>(activations[step]));
            const __m512i exponents = _mm512_set1_epi32(static_cast<int>(activations[step] & exponent_bits));
            add_words(sums, a, exponents, _mm512_loadu_si512(words));
        }
        const __m512i sum = _mm512_add_epi32(sum_of(sums), _mm512_set1_epi32(weights.padding()));
        const __m512 scales = _mm512_mul_ps(_mm512_set1_ps(scale), _mm512_loadu_ps(weights.scales + first));
        const size_t valid = smaller(lanes, weights.rows - first);
        _mm512_mask_storeu_ps(out + first, static_cast<__mmask16>((1u << valid) - 1u),
                              _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scales));
    }
}

void float_dots(const float* a, const float* b, size_t pairs, float* out) {
    for (size_t pair = 0; pair < pairs; ++pair, a += vector_size, b += vector_size) {
        __m512 sums[4] = {};
        unrolled<vector_size / lanes>([&](auto i) POCKETMT_INLINE_LAMBDA {
            __m512& sum = sums[i() % 4];
            sum = _mm512_fmadd_ps(_mm512_loadu_ps(a + i() * lanes), _mm512_loadu_ps(b + i() * lanes), sum);
        });
        out[pair] =
            _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3])));
    }
}

void integer_dots(const int8_t* a, const int32_t* a_sums, const uint8_t* b, size_t pairs, float* out) {
    for (size_t pair = 0; pair < pairs; ++pair, a += vector_size, b += vector_size) {
        const __m512i zero = _mm512_setzero_si512();
        const __m512i low = _mm512_dpbusd_epi32(zero, _mm512_loadu_si512(b), _mm512_loadu_si512(a));
        const __m512i both = _mm512_dpbusd_epi32(low, _mm512_loadu_si512(b + 64), _mm512_loadu_si512(a + 64));
        out[pair] = static_cast<float>(_mm512_reduce_add_epi32(both) - 128 * a_sums[pair]);
    }
}

void level_table_dots(const int8_t* a, const int32_t* a_sums, const uint8_t* b, const int8_t* levels, size_t pairs,
                      float* out) {
    const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(levels));
    const __m512i table = _mm512_xor_si512(_mm512_broadcast_i32x4(sixteen), _mm512_set1_epi8(-128));
    const __m512i mask = _mm512_set1_epi8(15);
    for (size_t pair = 0; pair < pairs; ++pair, a += vector_size, b += vector_size / 2) {
        const __m512i codes = _mm512_loadu_si512(b);
        const __m512i low = _mm512_shuffle_epi8(table, _mm512_and_si512(codes, mask));
        const __m512i high = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(codes, 4), mask));
        const __m512i first = _mm512_dpbusd_epi32(_mm512_setzero_si512(), low, _mm512_loadu_si512(a));
        const __m512i both = _mm512_dpbusd_epi32(first, high, _mm512_loadu_si512(a + 64));
        out[pair] = static_cast<float>(_mm512_reduce_add_epi32(both) - 128 * a_sums[pair]);
    }
}

void exponent_sum_dots(const CodeWord* a, const CodeWord* b, size_t pairs, float* out) {
    const __m512i mask = _mm512_set1_epi32(static_cast<int>(exponent_bits));
    for (size_t pair = 0; pair < pairs; ++pair, a += vector_words, b += vector_words) {
        __m512i sums[4] = {};
        const __m512i words = _mm512_loadu_si512(a);
        add_words(sums, words, _mm512_and_si512(words, mask), _mm512_loadu_si512(b));
        out[pair] = static_cast<float>(_mm512_reduce_add_epi32(sum_of(sums)));
    }
}

}  // namespace

const LogProducts log_products = {multiply, float_dots, integer_dots, level_table_dots, exponent_sum_dots};

}  // namespace pocketmt::testing::avx512_vnni
