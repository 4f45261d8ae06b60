// Activations with trained ranges (Prato et al. 2020, section 3) and the functions that compute with them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pocketmt {

// How the activations of one operation are quantized: value = offset + code * scale, where the code is a whole number
// from -half to half - 1. The code of x is round_half_even((x - offset) * inverse), clamped. Each array has one element
// for a whole row, or one for each element of a row.
struct QuantizationParameters {
    const float* offsets = nullptr;   // [elements]
    const float* scales = nullptr;    // [elements]
    const float* inverses = nullptr;  // [elements]: 1 / scale, or 0 where the scale is negligible.
    size_t elements = 0;              // 0: the operation is not quantized, and its values stay as they are.
    float half = 0.0f;                // 2^(bits - 1), at most 128.

    bool present() const { return elements != 0; }
    // Whether codes can be the activations of an integer product: scales of single elements cannot leave its sum.
    bool per_tensor() const { return elements == 1; }
};

// The steps of one layer normalization; the denominator has one element.
struct NormQuantization {
    QuantizationParameters numerator;
    QuantizationParameters denominator;
    QuantizationParameters quotient;
    QuantizationParameters output;

    bool present() const {
        return numerator.present() || denominator.present() || quotient.present() || output.present();
    }
};

// The steps of one attention. Query, key and value have one element or heads * head_size elements, and are all present
// or all absent. The numerator and the output (weight) of the softmax have one element.
struct AttentionQuantization {
    QuantizationParameters query;
    QuantizationParameters key;
    QuantizationParameters value;
    QuantizationParameters numerator;
    QuantizationParameters weight;
};

// Working memory of an attention. Padded sizes are rounded up to a multiple of 64.
struct AttentionScratch {
    float* floats;     // [padded positions + head size]
    int8_t* codes;     // [padded positions + padded head size]
    int32_t* columns;  // [2 * head size]
};

struct FakeQuantizationFunctions {
    // Replaces each element of x [count, columns] by the nearest value that has a code.
    void (*fake_quantize)(const QuantizationParameters& parameters, size_t count, size_t columns, float* x);
    // Writes the codes [count, stride] of x [count, x_stride]; those from `columns` to `stride` are 0.
    void (*quantize)(const QuantizationParameters& parameters, const float* x, size_t x_stride, size_t count,
                     size_t columns, int8_t* codes, size_t stride);
    // VectorFunctions::layer_norm with each step fake-quantized (Prato et al. 2020, section 3.2).
    void (*layer_norm)(const NormQuantization& quantization, const float* x, const float* residual, const float* gamma,
                       const float* beta, float epsilon, size_t count, size_t columns, float* sum_out, float* out);
    // Attention of one query [heads * head_size] to positions whose rows of key and value codes are given by pointers.
    void (*attend)(const AttentionQuantization& quantization, const float* query, const int8_t* const* keys,
                   const int8_t* const* values, size_t positions, size_t heads, size_t head_size,
                   const AttentionScratch& scratch, float* out);
};

}  // namespace pocketmt
