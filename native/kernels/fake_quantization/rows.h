// Quantization of rows of activations, and layer normalization with each step fake-quantized.
#pragma once

#include "fake_quantization_functions.h"
#include "vector/lanes.h"

namespace pocketmt {
namespace {

struct ParameterLanes {
    Floats offset;
    Floats scale;
    Floats inverse;
};

// Calls body(offset, load, store, parameters) for each 16 elements of `size`, as for_lanes does.
template <class Body>
POCKETMT_INLINE void for_parameter_lanes(const QuantizationParameters& parameters, size_t size, Body&& body) {
    if (parameters.per_tensor()) {
        const ParameterLanes all{broadcast(parameters.offsets[0]), broadcast(parameters.scales[0]),
                                 broadcast(parameters.inverses[0])};
        for_lanes(size, [&](size_t i, auto load, auto store) POCKETMT_INLINE_LAMBDA { body(i, load, store, all); });
    } else {
        for_lanes(size, [&](size_t i, auto load, auto store) POCKETMT_INLINE_LAMBDA {
            body(i, load, store,
                 ParameterLanes{load(parameters.offsets + i), load(parameters.scales + i),
                                load(parameters.inverses + i)});
        });
    }
}

// The codes of 16 values, each + rounding_shift. The code of NaN is the lowest.
POCKETMT_INLINE Floats shifted_codes(Floats value, const ParameterLanes& parameters, float half) {
    const Floats highest = broadcast(half - 1.0f);
    const Floats steps = maximum((value - parameters.offset) * parameters.inverse, broadcast(-half));
    return where_greater(steps, highest, highest, steps) + broadcast(rounding_shift);
}

inline void fake_quantize_row(const QuantizationParameters& parameters, size_t columns, float* x) {
    for_parameter_lanes(
        parameters, columns, [&](size_t i, auto load, auto store, const ParameterLanes& values) POCKETMT_INLINE_LAMBDA {
            const Floats codes = shifted_codes(load(x + i), values, parameters.half) - broadcast(rounding_shift);
            store(x + i, values.offset + codes * values.scale);
        });
}

inline void fake_quantize(const QuantizationParameters& parameters, size_t count, size_t columns, float* x) {
    for (size_t row = 0; row < count; ++row) fake_quantize_row(parameters, columns, x + row * columns);
}

// Writes the codes of one row, and nothing beyond `columns`.
inline void write_codes(const QuantizationParameters& parameters, const float* x, size_t columns, int8_t* codes) {
    for_parameter_lanes(parameters, columns,
                        [&](size_t i, auto load, auto, const ParameterLanes& values) POCKETMT_INLINE_LAMBDA {
                            const Floats shifted = shifted_codes(load(x + i), values, parameters.half);
                            if (i + lanes <= columns) return store_bytes(codes + i, shifted);
                            int8_t last[lanes];
                            store_bytes(last, shifted);
                            __builtin_memcpy(codes + i, last, columns - i);
                        });
}

inline void quantize(const QuantizationParameters& parameters, const float* x, size_t x_stride, size_t count,
                     size_t columns, int8_t* codes, size_t stride) {
    for (size_t row = 0; row < count; ++row, x += x_stride, codes += stride) {
        write_codes(parameters, x, columns, codes);
        __builtin_memset(codes + columns, 0, stride - columns);
    }
}

inline void fake_quantize_if_present(const QuantizationParameters& parameters, size_t columns, float* x) {
    if (parameters.present()) fake_quantize_row(parameters, columns, x);
}

// sum_i x[i] in the order of sum_of_lanes.
inline float sum_of_row(const float* x, size_t size) {
    Floats total{};
    for_lanes(size, [&](size_t i, auto load, auto) POCKETMT_INLINE_LAMBDA { total += load(x + i); });
    return sum_of_lanes(total);
}

// Layer normalization of one row, with numerator, denominator, quotient and output fake-quantized.
inline void quantized_layer_norm_row(const NormQuantization& quantization, const float* gamma, const float* beta,
                                     float epsilon, size_t columns, const float* sum, float* out) {
    const float size = static_cast<float>(columns);
    const Floats mean = broadcast(sum_of_row(sum, columns) / size);
    Floats squares{};
    for_lanes(columns,
              [&](size_t i, auto load, auto store) POCKETMT_INLINE_LAMBDA { store(out + i, load(sum + i) - mean); });
    for_lanes(columns,
              [&](size_t i, auto load, auto) POCKETMT_INLINE_LAMBDA { squares += load(out + i) * load(out + i); });
    float denominator = __builtin_sqrtf(sum_of_lanes(squares) / size + epsilon);
    fake_quantize_if_present(quantization.denominator, 1, &denominator);
    fake_quantize_if_present(quantization.numerator, columns, out);
    const Floats divisors = broadcast(denominator);
    for_lanes(columns, [&](size_t i, auto load, auto store)
                           POCKETMT_INLINE_LAMBDA { store(out + i, load(out + i) / divisors); });
    fake_quantize_if_present(quantization.quotient, columns, out);
    for_lanes(columns, [&](size_t i, auto load, auto store) POCKETMT_INLINE_LAMBDA {
        store(out + i, load(out + i) * load(gamma + i) + load(beta + i));
    });
    fake_quantize_if_present(quantization.output, columns, out);
}

inline void quantized_layer_norm(const NormQuantization& quantization, const float* x, const float* residual,
                                 const float* gamma, const float* beta, float epsilon, size_t count, size_t columns,
                                 float* sum_out, float* out) {
    for (size_t row = 0; row < count; ++row, x += columns, out += columns) {
        float* sum = sum_out != nullptr ? sum_out + row * columns : out;
        const float* second = residual != nullptr ? residual + row * columns : nullptr;
        for_lanes(columns, [&](size_t i, auto load, auto store) POCKETMT_INLINE_LAMBDA {
            store(sum + i, second != nullptr ? load(x + i) + load(second + i) : load(x + i));
        });
        quantized_layer_norm_row(quantization, gamma, beta, epsilon, columns, sum, out);
    }
}

}  // namespace
}  // namespace pocketmt
