// Bit plane product with AVX2, straight from the bits.
#include "bit_plane_product/call.h"
#include "integer_product/avx2_operations.h"
#include "tables.h"

namespace pocketmt::avx2 {
namespace {

constexpr size_t byte_bits = 8;
constexpr size_t parts = panel_outputs / lanes;
constexpr size_t part_bytes = lanes * group_inputs;

// A bit left in its place makes a weight of 2^k: vpmaddubsw's pairs of products, at most 2^7 * 2 * 127, do not
// saturate, and 2^(7 - k) brings all places to one sum, 2^7 times too large. At most 2^7 * 127 *
// largest_integer_columns: no overflow.
template <size_t rows>
POCKETMT_INLINE void sum_plane(const uint8_t* plane, size_t steps, const int8_t* codes, size_t stride,
                               __m256i (&sums)[rows][parts]) {
    for (size_t step = 0; step < steps; ++step, plane += plane_step_bytes, codes += plane_step_inputs) {
        unrolled<byte_bits>([&](auto place) POCKETMT_INLINE_LAMBDA {
            const __m256i mask = _mm256_set1_epi8(static_cast<char>(1u << place()));
            const __m256i factor = _mm256_set1_epi16(static_cast<short>(1u << (byte_bits - 1 - place())));
            unrolled<parts>([&](auto part) POCKETMT_INLINE_LAMBDA {
                const uint8_t* signs = plane + part() * part_bytes;
                const __m256i weights =
                    _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(signs)), mask);
                unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                    const __m256i four = broadcast_group(codes + row() * stride + place() * group_inputs);
                    const __m256i pairs = _mm256_maddubs_epi16(weights, four);
                    sums[row()][part()] = _mm256_add_epi32(sums[row()][part()], _mm256_madd_epi16(pairs, factor));
                });
            });
        });
    }
    unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
        __m256i& sum = sums[index() / parts][index() % parts];
        sum = _mm256_srai_epi32(sum, byte_bits - 1);
    });
}

template <size_t rows>
void multiply_tile(const PlaneCall& call, const PlaneRange& range) {
    const size_t stride = call.activations.stride;
    const int8_t* codes = call.activations.codes + range.first_row * stride;
    int32_t activation_sums[rows];
    sum_rows(call.activations, range.first_row, call.parts.steps * plane_step_inputs, activation_sums);
    for (size_t panel = range.first_panel; panel < range.last_panel; ++panel) {
        __m256 values[rows][parts];
        for (size_t bit = 0; bit < call.bits; ++bit) {
            const float* alphas = call.plane_alphas(panel, bit);
            __m256i sums[rows][parts] = {};
            sum_plane(call.plane(panel, bit), call.parts.steps, codes, stride, sums);
            unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {  // as reference::bit_plane_product
                constexpr size_t row = index() / parts, part = index() % parts;
                const __m256i all = _mm256_set1_epi32(activation_sums[row]);
                const __m256i sum = _mm256_sub_epi32(_mm256_slli_epi32(sums[row][part], 1), all);
                const __m256 activation_scale = _mm256_set1_ps(call.activations.scales[range.first_row + row]);
                const __m256 scale = _mm256_mul_ps(activation_scale, _mm256_loadu_ps(alphas + part * lanes));
                const __m256 term = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale);
                values[row][part] = bit == 0 ? term : _mm256_add_ps(values[row][part], term);
            });
        }
        unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
            constexpr size_t row = index() / parts, part = index() % parts;
            const size_t output = panel * panel_outputs + part * lanes;
            if (output >= call.rows) return;
            const size_t valid = call.rows - output;
            const __m256 activation_scale = _mm256_set1_ps(call.activations.scales[range.first_row + row]);
            const __m256 value =
                add_offsets(call.epilogue, output, valid, activation_sums[row], activation_scale, values[row][part]);
            store_outputs(call.epilogue, output, valid, value,
                          call.out + (range.first_row + row) * call.out_stride + output);
        });
    }
}

constexpr PlaneTile tiles[] = {multiply_tile<1>, multiply_tile<2>, multiply_tile<highest_tile>};

void multiply(const void* packed, size_t rows, size_t columns, size_t bits, const QuantizedActivations& activations,
              size_t count, const Epilogue& epilogue, float* out, size_t out_stride) {
    multiply_planes(plane_call(packed, rows, columns, bits, activations, epilogue, out, out_stride), count, tiles);
}

}  // namespace

const BitPlaneProduct bit_plane_product = {PlanePanels::packed_bytes, PlanePanels::pack, PlanePanels::unpack_row,
                                           multiply};

}  // namespace pocketmt::avx2
