#include "reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace pocketmt::reference {

namespace {

// The weights of one row as integers [terms, columns], where a product is a sum of `terms` integer sums with a scale
// each: one for each bit of a binary code, and otherwise one.
std::vector<int8_t> decode_row(ProductFamily family, const UnpackedWeights& weights, const MatrixShape& shape,
                               size_t row) {
    const size_t columns = shape.columns;
    if (family == ProductFamily::integer || family == ProductFamily::six_bit)
        return {weights.integers + row * columns, weights.integers + (row + 1) * columns};
    if (family == ProductFamily::binary_code) {
        const size_t bit_bytes = (columns + 7) / 8;
        const uint8_t* signs = weights.codes + row * shape.bits * bit_bytes;
        std::vector<int8_t> integers(shape.bits * columns);
        for (size_t i = 0; i < integers.size(); ++i) {
            const size_t column = i % columns;
            integers[i] = (signs[i / columns * bit_bytes + column / 8] >> (column % 8) & 1) != 0 ? 1 : -1;
        }
        return integers;
    }
    const int8_t* levels = weights.levels + (family == ProductFamily::row_lookup_table ? row * 16 : 0);
    const uint8_t* codes = weights.codes + row * ((columns + 1) / 2);
    std::vector<int8_t> integers(columns);
    for (size_t column = 0; column < columns; ++column)
        integers[column] = levels[codes[column / 2] >> (column % 2 * 4) & 15];
    return integers;
}

float quantized_output(const std::vector<int8_t>& weights, const float* scales, size_t columns, const int8_t* codes,
                       float activation_scale) {
    float value = 0.0f;
    for (size_t term = 0; term * columns < weights.size(); ++term) {
        const int8_t* integers = weights.data() + term * columns;
        int32_t sum = 0;
        for (size_t column = 0; column < columns; ++column) sum += codes[column] * integers[column];
        const float product = static_cast<float>(sum) * (activation_scale * scales[term]);
        value = term == 0 ? product : value + product;
    }
    return value;
}

float float_output(const float* weights, size_t columns, const float* activations) {
    double sum = 0.0;
    for (size_t column = 0; column < columns; ++column)
        sum += static_cast<double>(activations[column]) * weights[column];
    return static_cast<float>(sum);
}

float finish(float value, const Epilogue& epilogue, size_t row) {
    if (epilogue.bias != nullptr) value += epilogue.bias[row];
    return activated(epilogue.activation, value);
}

}  // namespace

void multiply(ProductFamily family, const UnpackedWeights& weights, const MatrixShape& shape, const ProductInput& input,
              const Epilogue& epilogue, float* out) {
    const size_t columns = shape.columns;
    for (size_t row = 0; row < shape.rows; ++row) {
        if (family == ProductFamily::float32) {
            const float* floats = weights.floats + row * columns;
            for (size_t i = 0; i < input.count; ++i) {
                const float value = float_output(floats, columns, input.floats + i * input.float_stride);
                out[i * shape.rows + row] = finish(value, epilogue, row);
            }
            continue;
        }
        const std::vector<int8_t> integers = decode_row(family, weights, shape, row);
        const float* scales = weights.scales + row * (integers.size() / columns);
        for (size_t i = 0; i < input.count; ++i) {
            const int8_t* codes = input.quantized.codes + i * input.quantized.stride;
            const float activation_scale = input.quantized.scales[i];
            float value = quantized_output(integers, scales, columns, codes, activation_scale);
            if (epilogue.offsets != nullptr) {
                const float offset = activation_scale * epilogue.offsets[row];
                value += static_cast<float>(std::accumulate(codes, codes + columns, 0)) * offset;
            }
            out[i * shape.rows + row] = finish(value, epilogue, row);
        }
    }
}

void quantize_rows(const float* x, size_t count, size_t columns, int8_t* codes, float* scales, size_t stride) {
    for (size_t i = 0; i < count; ++i) {
        float greatest = 0.0f;
        for (size_t column = 0; column < columns; ++column)
            greatest = std::max(greatest, std::fabs(x[i * columns + column]));
        const bool zero = greatest < 1e-35f;  // 127 / greatest would be infinite.
        scales[i] = zero ? 0.0f : greatest / 127.0f;
        const float inverse = zero ? 0.0f : 127.0f / greatest;
        std::fill_n(codes + i * stride, stride, int8_t{0});
        for (size_t column = 0; column < columns; ++column) {
            codes[i * stride + column] = static_cast<int8_t>(std::nearbyint(x[i * columns + column] * inverse));
        }
    }
}

void quantize_rows_static(const float* x, size_t count, size_t columns, float inverse, int8_t* codes, size_t stride) {
    for (size_t i = 0; i < count; ++i) {
        std::fill_n(codes + i * stride, stride, int8_t{0});
        for (size_t column = 0; column < columns; ++column) {
            const float code = std::nearbyint(x[i * columns + column] * inverse);
            codes[i * stride + column] = static_cast<int8_t>(std::clamp(code, -127.0f, 127.0f));
        }
    }
}

void quantize_rows_logarithmic(const float* x, size_t count, size_t columns, float top, float scale, int8_t* codes,
                               float* scales, size_t stride) {
    const float inverse = top / scale;
    for (size_t i = 0; i < count; ++i) {
        scales[i] = scale / top;
        std::fill_n(codes + i * stride, stride, int8_t{0});
        for (size_t column = 0; column < columns; ++column) {
            const float value = x[i * columns + column];
            float power = 1.0f;
            while (power < top && std::fabs(value) * inverse > 1.5f * power) power *= 2.0f;
            const int level = std::min(static_cast<int>(power), 127);
            codes[i * stride + column] = static_cast<int8_t>(value < 0.0f ? -level : level);
        }
    }
}

}  // namespace pocketmt::reference
