// Functions of rows: quantization of activations, layer normalization, sums.
#pragma once

#include "vector/lanes.h"

namespace pocketmt {
namespace {

inline void scale_add(const float* x, float factor, const float* y, size_t size, float* out) {
    const Floats factors = broadcast(factor);
    for_lanes(size, [&](size_t i, auto load, auto store) { store(out + i, load(x + i) * factors + load(y + i)); });
}

inline float greatest_magnitude(const float* x, size_t size) {
    Floats greatest{};
    for_lanes(size, [&](size_t i, auto load, auto) { greatest = maximum(greatest, absolute(load(x + i))); });
    return greatest_lane(greatest);
}

// Quantizes one row by its largest magnitude: scale = max|x| / 127, code = round(x / scale). A row so small that
// 127 / max|x| is not finite becomes zero.
inline void quantize_row(const float* x, size_t columns, int8_t* codes, float* scale, size_t stride) {
    constexpr float negligible = 1e-35f;
    const float greatest = greatest_magnitude(x, columns);
    const bool zero = greatest < negligible;
    const Floats inverse = broadcast(zero ? 0.0f : 127.0f / greatest);
    *scale = zero ? 0.0f : greatest / 127.0f;
    size_t column = 0;
    for (; column + lanes <= columns; column += lanes) {
        store_bytes(codes + column, load(x + column) * inverse + broadcast(rounding_shift));
    }
    if (column < columns) {  // The stride is a multiple of 64, so there is room for 16.
        store_bytes(codes + column, load_first(x + column, columns - column) * inverse + broadcast(rounding_shift));
        column += lanes;
    }
    if (column < stride) __builtin_memset(codes + column, 0, stride - column);
}

inline void quantize_rows(const float* x, size_t x_stride, size_t count, size_t columns, int8_t* codes, float* scales,
                          size_t stride) {
    for (size_t row = 0; row < count; ++row) {
        quantize_row(x + row * x_stride, columns, codes + row * stride, scales + row, stride);
    }
}

// The codes of 16 activations at a calibrated scale, each + rounding_shift.
POCKETMT_INLINE Floats shifted_codes(Floats x, Floats inverse) {
    const Floats most = broadcast(127.0f), least = broadcast(-127.0f);
    const Floats code = maximum(x * inverse, least);
    return where_greater(code, most, most, code) + broadcast(rounding_shift);
}

inline void quantize_rows_static(const float* x, size_t x_stride, size_t count, size_t columns, float inverse,
                                 int8_t* codes, size_t stride) {
    const Floats inverses = broadcast(inverse);
    for (size_t row = 0; row < count; ++row, x += x_stride, codes += stride) {
        size_t column = 0;
        for (; column + lanes <= columns; column += lanes)
            store_bytes(codes + column, shifted_codes(load(x + column), inverses));
        if (column < columns)  // The stride is a multiple of 64, so there is room for 16.
            store_bytes(codes + column, shifted_codes(load_first(x + column, columns - column), inverses));
        __builtin_memset(codes + columns, 0, stride - columns);
    }
}

// out = LN(x + residual) * gamma + beta for one row.
inline void layer_norm_row(const float* x, const float* residual, const float* gamma, const float* beta, float epsilon,
                           size_t columns, float* sum_out, float* out) {
    const float size = static_cast<float>(columns);
    float* kept = sum_out ? sum_out : out;
    Floats total{};
    for_lanes(columns, [&](size_t i, auto load, auto store) {
        const Floats value = residual ? load(x + i) + load(residual + i) : load(x + i);
        store(kept + i, value);
        total += value;
    });
    const float mean = sum_of_lanes(total) / size;
    Floats squares{};
    size_t column = 0;
    for (; column + lanes <= columns; column += lanes) {
        const Floats centred = load(kept + column) - broadcast(mean);
        squares += centred * centred;
    }
    if (column < columns) {
        const Floats centred = load_first(kept + column, columns - column, mean) - broadcast(mean);
        squares += centred * centred;
    }
    const float inverse = 1.0f / __builtin_sqrtf(sum_of_lanes(squares) / size + epsilon);
    for_lanes(columns, [&](size_t i, auto load, auto store) {
        store(out + i, (load(kept + i) - broadcast(mean)) * broadcast(inverse) * load(gamma + i) + load(beta + i));
    });
}

inline void layer_norm(const float* x, const float* residual, const float* gamma, const float* beta, float epsilon,
                       size_t count, size_t columns, float* sum_out, float* out) {
    for (size_t row = 0; row < count; ++row) {
        const size_t start = row * columns;
        layer_norm_row(x + start, residual ? residual + start : nullptr, gamma, beta, epsilon, columns,
                       sum_out ? sum_out + start : nullptr, out + start);
    }
}

}  // namespace
}  // namespace pocketmt
