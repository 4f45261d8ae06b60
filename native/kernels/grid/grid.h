// Trained ranges of activations (paper Q, [Q1-Q4]) and what is computed on them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pocketmt {

// The grid of an operation whose range was trained: value = offset + code * scale, code a whole number from -half to
// half - 1. The code of x is round_half_even((x - offset) * inverse), clamped. An array has one element for all of a
// row, or one for each.
struct Grid {
    const float* offsets = nullptr;
    const float* scales = nullptr;
    const float* inverses = nullptr;
    size_t elements = 0;  // 0: the operation is not quantized, and values pass as they are
    float half = 0.0f;    // 2^(bits - 1), at most 128

    bool present() const { return elements != 0; }
    // Whether codes can meet weights in an integer product: scales of single elements cannot leave its sum.
    bool uniform() const { return elements == 1; }
};

// Of one layer normalization; the denominator has one element.
struct NormGrids {
    Grid numerator;
    Grid denominator;
    Grid quotient;
    Grid output;

    bool present() const {
        return numerator.present() || denominator.present() || quotient.present() || output.present();
    }
};

// Of one attention; query, key and value have one element or one for each of heads * head size, and are all there or
// none; numerator and weight (of the softmax) have one.
struct AttentionGrids {
    Grid query;
    Grid key;
    Grid value;
    Grid numerator;
    Grid weight;
};

// Memory that an attention works in.
struct AttentionScratch {
    float* floats;     // [padded positions + head size], padded: to a multiple of 64
    int8_t* codes;     // [padded positions + padded head size]
    int32_t* columns;  // [2 * head size]
};

struct GridFunctions {
    // x, count rows of `columns`, each element to the nearest point of its grid.
    void (*snap)(const Grid& grid, size_t count, size_t columns, float* x);
    // codes [count, stride] of x [count, x_stride], zero from `columns` to `stride`.
    void (*codes)(const Grid& grid, const float* x, size_t x_stride, size_t count, size_t columns, int8_t* codes,
                  size_t stride);
    // As VectorFunctions::layer_norm, each step on its grid.
    void (*layer_norm)(const NormGrids& grids, const float* x, const float* residual, const float* gamma,
                       const float* beta, size_t count, size_t columns, float* sum_out, float* out);
    // One query [heads * head_size] over positions whose rows of key and value codes are given by pointers.
    void (*attend)(const AttentionGrids& grids, const float* query, const int8_t* const* keys,
                   const int8_t* const* values, size_t positions, size_t heads, size_t head_size,
                   const AttentionScratch& scratch, float* out);
};

}  // namespace pocketmt
