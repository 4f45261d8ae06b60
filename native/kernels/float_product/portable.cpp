// fp32 product for any CPU: plain loops that the compiler turns into whatever the baseline offers.
#include "float_product/panels.h"
#include "shapes.h"
#include "tables.h"

namespace pocketmt::portable {
namespace {

constexpr size_t width = 16;

void multiply(const void* packed, size_t rows, size_t columns, const float* activations, size_t activation_stride,
              size_t count, const Epilogue& epilogue, const Outputs& outputs) {
    for (size_t first = outputs.first; first < smaller(outputs.last, rows); first += width) {
        const float* panel = static_cast<const float*>(packed) + first * columns;
        for (size_t row = 0; row < count; ++row) {
            const float* activation = activations + row * activation_stride;
            float sums[width] = {};
            for (size_t column = 0; column < columns; ++column) {
                for (size_t lane = 0; lane < width; ++lane)
                    sums[lane] += activation[column] * panel[column * width + lane];
            }
            for (size_t lane = 0; lane < smaller(width, rows - first); ++lane) {
                float value = sums[lane];
                if (epilogue.bias) value += epilogue.bias[first + lane];
                if (epilogue.relu) value = value > 0.0f ? value : 0.0f;
                outputs.values[row * outputs.stride + first - outputs.first + lane] = value;
            }
        }
    }
}

}  // namespace

const FloatProduct float_product = {FloatPanels<width>::packed_bytes, FloatPanels<width>::pack,
                                    FloatPanels<width>::unpack_row, FloatPanels<width>::gather, multiply};

}  // namespace pocketmt::portable
