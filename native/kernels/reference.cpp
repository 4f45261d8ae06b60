#include "reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pocketmt::reference {

namespace {

float finish(float value, const Epilogue& epilogue, size_t row) {
    if (epilogue.bias) value += epilogue.bias[row];
    return epilogue.relu && !(value > 0.0f) ? 0.0f : value;
}

float add_offset(float value, const QuantizedActivations& activations, size_t i, size_t columns,
                 const Epilogue& epilogue, size_t row) {
    if (!epilogue.offsets) return value;
    const int8_t* codes = activations.codes + i * activations.stride;
    const float offset = activations.scales[i] * epilogue.offsets[row];
    return value + static_cast<float>(std::accumulate(codes, codes + columns, 0)) * offset;
}

}  // namespace

void float_product(const float* weight, size_t rows, size_t columns, const float* activations, size_t count,
                   const Epilogue& epilogue, float* out) {
    for (size_t i = 0; i < count; ++i) {
        for (size_t row = 0; row < rows; ++row) {
            double sum = 0.0;
            for (size_t column = 0; column < columns; ++column) {
                sum += static_cast<double>(activations[i * columns + column]) * weight[row * columns + column];
            }
            out[i * rows + row] = finish(static_cast<float>(sum), epilogue, row);
        }
    }
}

void integer_product(const int8_t* weight, const float* scales, size_t rows, size_t columns,
                     const QuantizedActivations& activations, size_t count, const Epilogue& epilogue, float* out) {
    for (size_t i = 0; i < count; ++i) {
        for (size_t row = 0; row < rows; ++row) {
            const int8_t* codes = activations.codes + i * activations.stride;
            int32_t sum = 0;
            for (size_t column = 0; column < columns; ++column) sum += codes[column] * weight[row * columns + column];
            const float product = static_cast<float>(sum) * (activations.scales[i] * scales[row]);
            const float value = add_offset(product, activations, i, columns, epilogue, row);
            out[i * rows + row] = finish(value, epilogue, row);
        }
    }
}

void bit_plane_product(const uint8_t* planes, const float* alphas, size_t rows, size_t columns, size_t bits,
                       const QuantizedActivations& activations, size_t count, const Epilogue& epilogue, float* out) {
    for (size_t i = 0; i < count; ++i) {
        for (size_t row = 0; row < rows; ++row) {
            const int8_t* codes = activations.codes + i * activations.stride;
            float value = 0.0f;
            for (size_t bit = 0; bit < bits; ++bit) {
                const uint8_t* signs = planes + (row * bits + bit) * ((columns + 7) / 8);
                int32_t sum = 0;
                for (size_t column = 0; column < columns; ++column) {
                    sum += (signs[column / 8] >> (column % 8) & 1) != 0 ? codes[column] : -codes[column];
                }
                const float term = static_cast<float>(sum) * (activations.scales[i] * alphas[row * bits + bit]);
                value = bit == 0 ? term : value + term;
            }
            value = add_offset(value, activations, i, columns, epilogue, row);
            out[i * rows + row] = finish(value, epilogue, row);
        }
    }
}

std::vector<int8_t> decode_levels(const uint8_t* codes, const int8_t* levels, size_t row_levels, size_t rows,
                                  size_t columns) {
    std::vector<int8_t> weight(rows * columns);
    const size_t row_bytes = (columns + 1) / 2;
    for (size_t row = 0; row < rows; ++row) {
        for (size_t column = 0; column < columns; ++column) {
            const uint8_t both = codes[row * row_bytes + column / 2];
            weight[row * columns + column] = levels[row * row_levels + (column % 2 == 0 ? both & 15 : both >> 4)];
        }
    }
    return weight;
}

void quantize_rows(const float* x, size_t count, size_t columns, int8_t* codes, float* scales, size_t stride) {
    for (size_t i = 0; i < count; ++i) {
        float greatest = 0.0f;
        for (size_t column = 0; column < columns; ++column)
            greatest = std::max(greatest, std::fabs(x[i * columns + column]));
        const bool zero = greatest < 1e-35f;  // 127 / greatest would be infinite
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

void layer_norm(const float* x, const float* gamma, const float* beta, size_t count, size_t columns, float* out) {
    for (size_t i = 0; i < count; ++i) {
        const float* row = x + i * columns;
        double mean = 0.0;
        for (size_t column = 0; column < columns; ++column) mean += row[column];
        mean /= static_cast<double>(columns);
        double variance = 0.0;
        for (size_t column = 0; column < columns; ++column) variance += (row[column] - mean) * (row[column] - mean);
        variance /= static_cast<double>(columns);
        for (size_t column = 0; column < columns; ++column) {
            const double normal = (row[column] - mean) / std::sqrt(variance + 1e-5);
            out[i * columns + column] = static_cast<float>(normal * gamma[column] + beta[column]);
        }
    }
}

void attend(const float* queries, const float* keys, const float* values, size_t count, size_t positions, size_t heads,
            size_t head_size, float* out) {
    const size_t columns = heads * head_size;
    std::vector<double> weights(positions);
    for (size_t index = 0; index < count * heads; ++index) {
        const size_t row = index / heads;
        const size_t first = index % heads * head_size;
        double greatest = -HUGE_VAL;
        for (size_t position = 0; position < positions; ++position) {
            double score = 0.0;
            for (size_t column = first; column < first + head_size; ++column) {
                score += static_cast<double>(queries[row * columns + column]) * keys[position * columns + column];
            }
            weights[position] = score / std::sqrt(static_cast<double>(head_size));
            greatest = std::max(greatest, weights[position]);
        }
        double total = 0.0;
        for (double& weight : weights) total += weight = std::exp(weight - greatest);
        for (size_t column = first; column < first + head_size; ++column) {
            double sum = 0.0;
            for (size_t position = 0; position < positions; ++position) {
                sum += weights[position] * values[position * columns + column];
            }
            out[row * columns + column] = static_cast<float>(sum / total);
        }
    }
}

}  // namespace pocketmt::reference
