// fp32 product with NEON: tiles of up to 3 rows by 32 outputs, 24 sums in registers.
#include "float_product/call.h"
#include "neon_store.h"
#include "tables.h"

namespace pocketmt::neon_dot_product {
namespace {

constexpr size_t width = 32;
constexpr size_t highest_tile = 3;
constexpr size_t parts = width / lanes;

template <size_t rows>
struct Tile {
    static void multiply(const FloatCall& call, const FloatTileRange& range) {
        const float* weights = range.weights;
        const size_t stride = call.activation_stride;
        for (size_t output = range.first_output; output < range.last_output; output += width) {
            float32x4_t sums[rows][parts] = {};
            const float* activations = call.activations + range.first_row * stride;
            for (size_t column = 0; column < call.columns; ++column, weights += width) {
                float32x4_t inputs[rows];
                unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                    inputs[row()] = vdupq_n_f32(activations[row() * stride + column]);
                });
                unrolled<parts>([&](auto part) POCKETMT_INLINE_LAMBDA {
                    const float32x4_t loaded = vld1q_f32(weights + part() * lanes);
                    unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                        sums[row()][part()] = vfmaq_f32(sums[row()][part()], loaded, inputs[row()]);
                    });
                });
            }
            unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
                constexpr size_t row = index() / parts, part = index() % parts;
                const size_t first = output + part * lanes;
                if (first >= call.rows) return;
                float* out = call.outputs.values + (range.first_row + row) * call.outputs.stride + first;
                store_outputs(call.epilogue, first, call.rows - first, sums[row][part], out);
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

}  // namespace pocketmt::neon_dot_product
