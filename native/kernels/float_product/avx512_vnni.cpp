// fp32 product with AVX-512: tiles of up to 6 rows by 64 outputs, 24 sums in registers.
#include "float_product/call.h"
#include "intrinsics.h"
#include "tables.h"

namespace pocketmt::avx512_vnni {
namespace {

constexpr size_t width = 64;
constexpr size_t highest_tile = 6;
constexpr size_t parts = width / 16;

// Sums of one row over 16 outputs, of which `valid` exist.
POCKETMT_INLINE void store_sums(const FloatCall& call, size_t row, size_t output, size_t valid, __m512 value) {
    const __mmask16 mask = static_cast<__mmask16>((1u << smaller(16, valid)) - 1u);
    if (call.epilogue.bias) value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, call.epilogue.bias + output));
    if (call.epilogue.relu) value = _mm512_max_ps(value, _mm512_setzero_ps());
    float* out = call.outputs.values + row * call.outputs.stride + output;
    if (mask == 0xffff) {
        _mm512_storeu_ps(out, value);
    } else {
        _mm512_mask_storeu_ps(out, mask, value);
    }
}

template <size_t rows>
struct Tile {
    static void multiply(const FloatCall& call, const FloatTileRange& range) {
        const float* weights = range.weights;
        const size_t stride = call.activation_stride;
        for (size_t output = range.first_output; output < range.last_output; output += width) {
            __m512 sums[rows][parts] = {};
            const float* activations = call.activations + range.first_row * stride;
            for (size_t column = 0; column < call.columns; ++column, weights += width) {
                unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                    const __m512 activation = _mm512_set1_ps(activations[row() * stride + column]);
                    unrolled<parts>([&](auto part) POCKETMT_INLINE_LAMBDA {
                        sums[row()][part()] =
                            _mm512_fmadd_ps(activation, _mm512_loadu_ps(weights + part() * 16), sums[row()][part()]);
                    });
                });
            }
            unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
                constexpr size_t row = index() / parts, part = index() % parts;
                const size_t first = output + part * 16;
                if (first < call.rows)
                    store_sums(call, range.first_row + row, first, call.rows - first, sums[row][part]);
            });
        }
    }
};

void multiply(const void* packed, size_t rows, size_t columns, const float* activations, size_t activation_stride,
              size_t count, const Epilogue& epilogue, const Outputs& outputs) {
    const FloatCall call{rows, columns, activations, activation_stride, epilogue, outputs};
    multiply_panels<width, highest_tile, Tile>(call, static_cast<const float*>(packed), count);
}

}  // namespace

const FloatProduct float_product = {FloatPanels<width>::packed_bytes, FloatPanels<width>::pack,
                                    FloatPanels<width>::unpack_row, FloatPanels<width>::gather, multiply};

}  // namespace pocketmt::avx512_vnni
