// The limits of AVX2: vpmaddubsw, vpmaddwd and vpaddd for bytes, fused multiply-adds and loads of 32 bytes. What makes
// the engine's products exact (the signs of weights) is not in it.
#include "kernels/intrinsics.h"
#include "testing/floor/limits.h"

namespace pocketmt::testing::avx2 {

namespace {

constexpr size_t sums = 10;  // as many as there are registers for, beside what is multiplied
constexpr size_t read_sums = 8;
constexpr size_t integer_lanes = 32;
constexpr size_t float_lanes = 8;

int32_t sum_of(__m256i value) {
    alignas(32) int32_t lanes[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), value);
    int32_t total = 0;
    for (const int32_t lane : lanes) total += lane;
    return total;
}

int32_t multiply_integers(size_t steps) {
    __m256i sum[sums] = {};
    hide(sum);
    __m256i weights = _mm256_set1_epi8(3);
    const __m256i activations = _mm256_set1_epi8(-2), ones = _mm256_set1_epi16(1);
    for (size_t step = 0; step < steps; ++step) {
        for (__m256i& each : sum) {
            hide(weights);
            const __m256i pairs = _mm256_maddubs_epi16(weights, activations);
            each = _mm256_add_epi32(each, _mm256_madd_epi16(pairs, ones));
        }
    }
    for (size_t i = 1; i < sums; ++i) sum[0] = _mm256_add_epi32(sum[0], sum[i]);
    return sum_of(sum[0]);
}

float multiply_floats(size_t steps) {
    __m256 sum[sums] = {};
    hide(sum);
    __m256 weights = _mm256_set1_ps(0.5f);
    const __m256 activations = _mm256_set1_ps(-0.25f);
    for (size_t step = 0; step < steps; ++step) {
        hide(weights);
        for (__m256& each : sum) each = _mm256_fmadd_ps(weights, activations, each);
    }
    alignas(32) float lanes[float_lanes];
    float total = 0.0f;
    for (const __m256& each : sum) {
        _mm256_store_ps(lanes, each);
        for (const float lane : lanes) total += lane;
    }
    return total;
}

int32_t read(const void* memory, size_t bytes) {
    const auto* start = static_cast<const char*>(memory);
    __m256i sum[read_sums] = {};
    hide(sum);
    const size_t part = bytes / streams, step = read_sums / streams * sizeof(__m256i);
    for (size_t done = 0; done < part; done += step) {
        for (size_t i = 0; i < read_sums; ++i) {
            const char* const place = start + (i % streams) * part + done + i / streams * sizeof(__m256i);
            sum[i] = _mm256_xor_si256(sum[i], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(place)));
        }
    }
    for (size_t i = 1; i < read_sums; ++i) sum[0] = _mm256_xor_si256(sum[0], sum[i]);
    return sum_of(sum[0]);
}

}  // namespace

const Limits limits = {sums * integer_lanes, sums * float_lanes, multiply_integers, multiply_floats, read};

}  // namespace pocketmt::testing::avx2
