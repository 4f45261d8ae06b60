// What every kernel computes, written for reading: one output at a time, in the order of the formula. Fast code is
// tested against these, and the products are compared with them once at load (check_kernels).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels.h"

namespace pocketmt::reference {

// out[count, rows] = relu(activations[count, columns] weight[rows, columns]^T + bias), summed in double.
void float_product(const float* weight, size_t rows, size_t columns, const float* activations, size_t count,
                   const Epilogue& epilogue, float* out);

// out = relu(sum(codes * weight codes) * (activation scale * weight scale) + bias): the sum is exact, then three float
// operations. Where there are offsets, sum(codes) * (activation scale * offset) is added before the bias. weight:
// [rows, columns].
void integer_product(const int8_t* weight, const float* scales, size_t rows, size_t columns,
                     const QuantizedActivations& activations, size_t count, const Epilogue& epilogue, float* out);

// The sum of +-codes over the signs of each plane is exact; times (activation scale * alpha) it is a float, and these
// are added from the first plane to the last, then offset and bias as above. planes: [rows, bits, (columns + 7) / 8],
// alphas: [rows, bits].
void bit_plane_product(const uint8_t* planes, const float* alphas, size_t rows, size_t columns, size_t bits,
                       const QuantizedActivations& activations, size_t count, const Epilogue& epilogue, float* out);

// [rows, (columns + 1) / 2] nibbles, low nibble first -> [rows, columns] levels. A row's 16 levels are `row_levels`
// behind those of the row before: 0 where they are the same.
std::vector<int8_t> decode_levels(const uint8_t* codes, const int8_t* levels, size_t row_levels, size_t rows,
                                  size_t columns);

// scale = max|x| / 127, code = round_half_even(x * (127 / max|x|)); codes [count, stride], zero from `columns` on.
void quantize_rows(const float* x, size_t count, size_t columns, int8_t* codes, float* scales, size_t stride);

// round_half_even(x * inverse), from -127 to 127.
void quantize_rows_static(const float* x, size_t count, size_t columns, float inverse, int8_t* codes, size_t stride);

// The power of two nearest to |x| * (top / scale), the lower in the middle, from 1 to top, at most 127, with x's sign;
// scales are scale / top.
void quantize_rows_logarithmic(const float* x, size_t count, size_t columns, float top, float scale, int8_t* codes,
                               float* scales, size_t stride);

// (x - mean) / sqrt(variance + 1e-5) * gamma + beta for each row, in double.
void layer_norm(const float* x, const float* gamma, const float* beta, size_t count, size_t columns, float* out);

// softmax(q K^T / sqrt(head_size)) V for each head, in double. queries, out: [count, heads * head_size]; keys, values:
// [positions, heads * head_size].
void attend(const float* queries, const float* keys, const float* values, size_t count, size_t positions, size_t heads,
            size_t head_size, float* out);

}  // namespace pocketmt::reference
