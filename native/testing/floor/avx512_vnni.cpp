// The limits of AVX-512 VNNI: vpdpbusd, fused multiply-adds and loads of 64 bytes.
#include "kernels/intrinsics.h"
#include "testing/floor/limits.h"

namespace pocketmt::testing::avx512_vnni {

namespace {

constexpr size_t sums = 16;  // an instruction or two a cycle, whose results come four or five cycles later
constexpr size_t integer_lanes = 64;
constexpr size_t float_lanes = 16;

int32_t multiply_integers(size_t steps) {
    __m512i sum[sums] = {};
    hide(sum);
    __m512i weights = _mm512_set1_epi8(3);
    const __m512i activations = _mm512_set1_epi8(-2);
    for (size_t step = 0; step < steps; ++step) {
        hide(weights);
        for (__m512i& each : sum) each = _mm512_dpbusd_epi32(each, weights, activations);
    }
    for (size_t i = 1; i < sums; ++i) sum[0] = _mm512_add_epi32(sum[0], sum[i]);
    return _mm512_reduce_add_epi32(sum[0]);
}

float multiply_floats(size_t steps) {
    __m512 sum[sums] = {};
    hide(sum);
    __m512 weights = _mm512_set1_ps(0.5f);
    const __m512 activations = _mm512_set1_ps(-0.25f);
    for (size_t step = 0; step < steps; ++step) {
        hide(weights);
        for (__m512& each : sum) each = _mm512_fmadd_ps(weights, activations, each);
    }
    for (size_t i = 1; i < sums; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
    return _mm512_reduce_add_ps(sum[0]);
}

int32_t read(const void* memory, size_t bytes) {
    const auto* start = static_cast<const char*>(memory);
    __m512i sum[sums] = {};
    hide(sum);
    const size_t part = bytes / streams;
    for (size_t done = 0; done < part; done += read_block / streams) {
        for (size_t i = 0; i < sums; ++i) {
            const char* const place = start + (i % streams) * part + done + i / streams * sizeof(__m512i);
            sum[i] = _mm512_xor_si512(sum[i], _mm512_loadu_si512(place));
        }
    }
    for (size_t i = 1; i < sums; ++i) sum[0] = _mm512_xor_si512(sum[0], sum[i]);
    return _mm512_reduce_add_epi32(sum[0]);
}

}  // namespace

const Limits limits = {sums * integer_lanes, sums * float_lanes, multiply_integers, multiply_floats, read};

}  // namespace pocketmt::testing::avx512_vnni
