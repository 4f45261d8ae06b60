// What every kernel computes, written to be read: one output at a time, in the order of the formula. Tests compare the
// kernels with these functions, and check_kernels does when a model is loaded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "product.h"

namespace pocketmt::reference {

// Computes the outputs [count, rows] of a product.
//
// float32: activation(sum(activations * weights) + bias), summed in double.
//
// Integers and lookup tables: activation(sum(codes * weights) * (activation scale * weight scale) + bias). The sum is
// exact; the other operations round to float. With offsets, sum(codes) * (activation scale * offset) is added before
// the bias.
//
// Binary codes: for each bit the sum of +codes and -codes, which is exact, times (activation scale * alpha) is a float;
// these are added from the first bit to the last. Offsets and bias follow as above.
void multiply(ProductFamily family, const UnpackedWeights& weights, const MatrixShape& shape, const ProductInput& input,
              const Epilogue& epilogue, float* out);

// scale = max|x| / 127, code = round_half_even(x * (127 / max|x|)). codes: [count, stride], zero from `columns` on.
void quantize_rows(const float* x, size_t count, size_t columns, int8_t* codes, float* scales, size_t stride);

// code = round_half_even(x * inverse), from -127 to 127.
void quantize_rows_static(const float* x, size_t count, size_t columns, float inverse, int8_t* codes, size_t stride);

// The magnitude of a code is the power of two nearest to |x| * (top / scale), the lower one in the middle, from 1 to
// `top`, at most 127; its sign is that of x. Scales are scale / top.
void quantize_rows_logarithmic(const float* x, size_t count, size_t columns, float top, float scale, int8_t* codes,
                               float* scales, size_t stride);

}  // namespace pocketmt::reference
