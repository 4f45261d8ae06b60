// Products of log codes with AVX2. It shifts lanes of 32 bits by amounts of their own, none smaller: an exponent sum
// takes a whole lane.
#include "kernels/intrinsics.h"
#include "kernels/shapes.h"
#include "testing/log_products/products.h"

namespace pocketmt::testing::avx2 {

namespace {

constexpr size_t lanes = 8;

POCKETMT_INLINE __m256i load(const void* from) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

POCKETMT_INLINE int32_t sum_of_lanes(__m256i value) {
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

// sums[parity] += the products of eight codes in each lane; `a_exponents` has the exponents of a alone.
POCKETMT_INLINE void add_words(__m256i (&sums)[2], __m256i a, __m256i a_exponents, __m256i b) {
    const __m256i mask = _mm256_set1_epi32(static_cast<int>(exponent_bits));
    const __m256i exponents = _mm256_add_epi32(a_exponents, _mm256_and_si256(b, mask));
    const __m256i signs = _mm256_xor_si256(a, b);
    unrolled<word_codes>([&](auto index) POCKETMT_INLINE_LAMBDA {
        constexpr int shift = 4 * static_cast<int>(index());
        const __m256i exponent = _mm256_and_si256(_mm256_srli_epi32(exponents, shift), _mm256_set1_epi32(15));
        const __m256i magnitude = _mm256_srlv_epi32(_mm256_set1_epi32(largest_product), exponent);
        const __m256i sign = _mm256_or_si256(_mm256_slli_epi32(signs, 28 - shift), _mm256_set1_epi32(1));
        __m256i& sum = sums[index() % 2];
        sum = _mm256_add_epi32(sum, _mm256_sign_epi32(magnitude, sign));
    });
}

void multiply(const ExponentMatrix& weights, const CodeWord* activations, float scale, float* out) {
    const size_t steps = weights.steps();
    const CodeWord* words = weights.words;
    for (size_t first = 0; first < weights.rows; first += exponent_panel_outputs) {
        __m256i sums[2][2] = {};
        for (size_t step = 0; step < steps; ++step, words += exponent_panel_outputs) {
            const __m256i a = _mm256_set1_epi32(static_cast<int>(activations[step]));
            const __m256i exponents = _mm256_set1_epi32(static_cast<int>(activations[step] & exponent_bits));
            unrolled<2>([&](auto part) POCKETMT_INLINE_LAMBDA {
                add_words(sums[part()], a, exponents, load(words + part() * lanes));
            });
        }
        for (size_t part = 0; part < 2; ++part) {
            const size_t output = first + part * lanes;
            const __m256i sum =
                _mm256_add_epi32(_mm256_add_epi32(sums[part][0], sums[part][1]), _mm256_set1_epi32(weights.padding()));
            const __m256 scales = _mm256_mul_ps(_mm256_set1_ps(scale), _mm256_loadu_ps(weights.scales + output));
            float values[lanes];
            _mm256_storeu_ps(values, _mm256_mul_ps(_mm256_cvtepi32_ps(sum), scales));
            for (size_t lane = 0; lane < lanes && output + lane < weights.rows; ++lane)
                out[output + lane] = values[lane];
        }
    }
}

void float_dots(const float* a, const float* b, size_t pairs, float* out) {
    for (size_t pair = 0; pair < pairs; ++pair, a += vector_size, b += vector_size) {
        __m256 sums[4] = {};
        unrolled<vector_size / lanes>([&](auto i) POCKETMT_INLINE_LAMBDA {
            __m256& sum = sums[i() % 4];
            sum = _mm256_fmadd_ps(_mm256_loadu_ps(a + i() * lanes), _mm256_loadu_ps(b + i() * lanes), sum);
        });
        const __m256 eight = _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]));
        const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
        const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        out[pair] = _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
    }
}

// sum += products of signed bytes, by magnitude and sign: pairs are at most 2 * 127 * 127, which 16 bits hold.
POCKETMT_INLINE __m256i add_products(__m256i sum, __m256i a, __m256i b) {
    const __m256i products = _mm256_maddubs_epi16(_mm256_abs_epi8(b), _mm256_sign_epi8(a, b));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(products, _mm256_set1_epi16(1)));
}

void integer_dots(const int8_t* a, const int32_t*, const uint8_t* b, size_t pairs, float* out) {
    const __m256i offset = _mm256_set1_epi8(-128);
    for (size_t pair = 0; pair < pairs; ++pair, a += vector_size, b += vector_size) {
        __m256i sums[2] = {};
        unrolled<vector_size / 32>([&](auto i) POCKETMT_INLINE_LAMBDA {
            const __m256i levels = _mm256_xor_si256(load(b + i() * 32), offset);
            sums[i() % 2] = add_products(sums[i() % 2], load(a + i() * 32), levels);
        });
        out[pair] = static_cast<float>(sum_of_lanes(_mm256_add_epi32(sums[0], sums[1])));
    }
}

void level_table_dots(const int8_t* a, const int32_t*, const uint8_t* b, const int8_t* levels, size_t pairs,
                      float* out) {
    constexpr size_t half = vector_size / 2;
    const __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(levels)));
    const __m256i mask = _mm256_set1_epi8(15);
    for (size_t pair = 0; pair < pairs; ++pair, a += vector_size, b += half) {
        __m256i sums[2] = {};
        unrolled<2>([&](auto i) POCKETMT_INLINE_LAMBDA {
            const __m256i codes = load(b + i() * 32);
            const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(codes, mask));
            const __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(codes, 4), mask));
            sums[0] = add_products(sums[0], load(a + i() * 32), low);
            sums[1] = add_products(sums[1], load(a + half + i() * 32), high);
        });
        out[pair] = static_cast<float>(sum_of_lanes(_mm256_add_epi32(sums[0], sums[1])));
    }
}

void exponent_sum_dots(const CodeWord* a, const CodeWord* b, size_t pairs, float* out) {
    const __m256i mask = _mm256_set1_epi32(static_cast<int>(exponent_bits));
    for (size_t pair = 0; pair < pairs; ++pair, a += vector_words, b += vector_words) {
        __m256i sums[2] = {};
        unrolled<vector_words / lanes>([&](auto i) POCKETMT_INLINE_LAMBDA {
            const __m256i words = load(a + i() * lanes);
            add_words(sums, words, _mm256_and_si256(words, mask), load(b + i() * lanes));
        });
        out[pair] = static_cast<float>(sum_of_lanes(_mm256_add_epi32(sums[0], sums[1])));
    }
}

}  // namespace

const LogProducts log_products = {multiply, float_dots, integer_dots, level_table_dots, exponent_sum_dots};

}  // namespace pocketmt::testing::avx2
