// The kernels of one instruction set, as a table of functions.
//
// Shapes: a weight matrix has `rows` outputs and `columns` inputs; activations are `count` rows of `columns` floats,
// row-major; products are `count` rows of `rows` floats, count at least 1. Leading dimensions are explicit strides in
// elements. Every output element depends on its own activation row and weight row alone, summed in an order that does
// not depend on `count`: a sentence's translation never depends on its neighbours (design, contract 3).
#pragma once

#include <cstddef>
#include <cstdint>

#include "grid/grid.h"

namespace pocketmt {

enum class InstructionSet { portable, avx2, avx_vnni, avx512_vnni, neon_dot_product };

struct NamedInstructionSet {
    InstructionSet instruction_set;
    const char* name;
};
// All of them, fastest first; a CPU can run some.
inline constexpr NamedInstructionSet instruction_sets[] = {{InstructionSet::avx512_vnni, "avx512_vnni"},
                                                           {InstructionSet::avx_vnni, "avx_vnni"},
                                                           {InstructionSet::avx2, "avx2"},
                                                           {InstructionSet::neon_dot_product, "neon_dot_product"},
                                                           {InstructionSet::portable, "portable"}};

// What is fused into a product: out = relu(product + sum(activations) * offset + bias), in this order. A null array
// adds nothing.
struct Epilogue {
    const float* bias = nullptr;  // [rows]
    bool relu = false;
    const float* offsets = nullptr;  // [rows]: what is added to every weight of a row; not in fp32
};

// Where products go: rows of floats, `stride` apart. Of a product made in parts, by several threads, those from `first`
// to `last` - 1 alone: parts begin at multiples of part_outputs, and end at one or at the matrix's end.
constexpr size_t part_outputs = 64;
struct Outputs {
    float* values;  // of the output `first`
    size_t stride;
    size_t first = 0;
    size_t last = static_cast<size_t>(-1);
};

// Activations quantized per row ([E6], dynamic): codes in [-127, 127], value = code * scale. Or codes of a trained
// grid, which may be -128, too; the epilogue has its offset (grid/grid.h).
struct QuantizedActivations {
    const int8_t* codes;  // [count, stride], padded with zeros up to `stride`
    const float* scales;  // [count]
    size_t stride;        // columns rounded up to activation_alignment
};
constexpr size_t activation_alignment = 64;
// More columns than this could overflow the 32-bit sums of integer products: packing throws std::invalid_argument.
constexpr size_t largest_integer_columns = 65536;

// One family of packed weights: pack once at load, multiply many times. A packed block is allocated by the caller,
// 64-byte aligned, `packed_bytes` long, and can be read by the table that packed it alone. Arrays that the caller
// passes are never read or written outside the shapes given here; `out` must not overlap the inputs.
//
// gather: `count` rows of a packed block, at least 1, those of `indices`, as a packed block [count, columns] of their
// own. A row gives the same products, bit for bit, in any block.
struct FloatProduct {
    // Parts of a matrix can be packed apart, each where packed_bytes of the rows before it end; these are a multiple of
    // float_part_rows.
    size_t (*packed_bytes)(size_t rows, size_t columns);
    void (*pack)(const float* weight, size_t rows, size_t columns, void* packed);
    void (*unpack_row)(const void* packed, size_t rows, size_t columns, size_t row, float* out);
    void (*gather)(const void* packed, size_t rows, size_t columns, const uint32_t* indices, size_t count,
                   void* gathered);
    void (*multiply)(const void* packed, size_t rows, size_t columns, const float* activations,
                     size_t activation_stride, size_t count, const Epilogue& epilogue, const Outputs& outputs);
};

constexpr size_t float_part_rows = 64;

struct IntegerProduct {  // whole numbers, one scale a row: 8-bit weights, or 6-bit ones in [-32, 31]
    size_t (*packed_bytes)(size_t rows, size_t columns);
    void (*pack)(const int8_t* codes, const float* scales, size_t rows, size_t columns, void* packed);
    void (*unpack_row)(const void* packed, size_t rows, size_t columns, size_t row, float* out);  // code * scale
    void (*gather)(const void* packed, size_t rows, size_t columns, const uint32_t* indices, size_t count,
                   void* gathered);
    void (*multiply)(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations,
                     size_t count, const Epilogue& epilogue, const Outputs& outputs);
};

// 4-bit codes, weight = levels[code] * scale(row); executed from the packed codes. One table serves the whole matrix,
// or each row has its own.
struct LevelTableProduct {
    size_t (*packed_bytes)(size_t rows, size_t columns);
    // codes: [rows, (columns + 1) / 2], low nibble = even column; scales: [rows]; levels: [16], or [rows, 16], in
    // [-127, 127]
    void (*pack)(const uint8_t* codes, const float* scales, const int8_t* levels, size_t rows, size_t columns,
                 void* packed);
    void (*unpack_row)(const void* packed, size_t rows, size_t columns, size_t row,
                       float* out);  // levels[code] * scale
    void (*gather)(const void* packed, size_t rows, size_t columns, const uint32_t* indices, size_t count,
                   void* gathered);
    void (*multiply)(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations,
                     size_t count, const Epilogue& epilogue, const Outputs& outputs);
};

struct BitPlaneProduct {  // binary codes ([B1]) of few bits, weight = sum over planes of +-alpha(row, plane); executed
                          // from the bits
    size_t (*packed_bytes)(size_t rows, size_t columns, size_t bits);
    // planes: [rows, bits, (columns + 7) / 8], lowest bit first, a set bit is +1, another -1; alphas: [rows, bits];
    // 1 to largest_plane_bits bits, otherwise std::invalid_argument
    void (*pack)(const uint8_t* planes, const float* alphas, size_t rows, size_t columns, size_t bits, void* packed);
    void (*unpack_row)(const void* packed, size_t rows, size_t columns, size_t bits, size_t row, float* out);
    void (*gather)(const void* packed, size_t rows, size_t columns, size_t bits, const uint32_t* indices, size_t count,
                   void* gathered);
    void (*multiply)(const void* packed, size_t rows, size_t columns, size_t bits,
                     const QuantizedActivations& activations, size_t count, const Epilogue& epilogue,
                     const Outputs& outputs);
};
constexpr size_t largest_plane_bits = 2;

// Keys and values of one sentence and layer for attention over a fixed set of positions (encoder self-attention,
// cross-attention). keys are transposed per head: [heads, head_size, padded_positions], padded = up to multiple of 16;
// values of a head: [positions, head_size], rows value_stride and heads value_head_step apart.
struct AttentionMemory {
    const float* keys;
    const float* values;
    size_t value_stride;
    size_t value_head_step;
    size_t positions;
    size_t padded_positions;
};
// How many queries attend_memory treats at once; each has a row of scratch.
constexpr size_t attention_rows = 4;

struct VectorFunctions {
    // codes: [count, stride]; columns beyond `columns` are zeroed.
    void (*quantize_rows)(const float* x, size_t x_stride, size_t count, size_t columns, int8_t* codes, float* scales,
                          size_t stride);
    // Activations at a calibrated scale ([E6]): code = x * inverse, rounded to the nearest, halves to even, at most 127
    // in magnitude. Columns beyond `columns` are zeroed.
    void (*quantize_rows_static)(const float* x, size_t x_stride, size_t count, size_t columns, float inverse,
                                 int8_t* codes, size_t stride);
    // Activations on a fixed log scale ([L5]): codes are levels, the power of two that is nearest to |x| * (top /
    // scale), the lower in the middle, at least 1, at most `top` (a power of two up to 128, which is held as 127), with
    // the sign of x; every scale is scale / top. Columns beyond `columns` are zeroed.
    void (*quantize_rows_logarithmic)(const float* x, size_t x_stride, size_t count, size_t columns, float top,
                                      float scale, int8_t* codes, float* scales, size_t stride);
    // out = LN(x + residual) * gamma + beta; residual may be null; sum_out (x + residual) may be null. Rows are
    // contiguous. out and sum_out may each be x or residual, but not one another. Variance is biased, epsilon 1e-5.
    void (*layer_norm)(const float* x, const float* residual, const float* gamma, const float* beta, size_t count,
                       size_t columns, float* sum_out, float* out);
    // y += x, elementwise
    void (*add)(const float* x, size_t size, float* y);
    // out = x * factor + y, elementwise (embedding * sqrt(d) + position)
    void (*scale_add)(const float* x, float factor, const float* y, size_t size, float* out);
    // [positions, key_stride] -> [heads, head_size, padded_positions], zero padded
    void (*transpose_keys)(const float* keys, size_t key_stride, size_t positions, size_t heads, size_t head_size,
                           size_t padded_positions, float* out);
    // queries [count, query_stride], each attending to every position of memory; out [count, out_stride];
    // scores: scratch [attention_rows, padded_positions]. Scores are scaled by 1 / sqrt(head_size), a multiple of 4.
    void (*attend_memory)(const float* queries, size_t query_stride, size_t count, const AttentionMemory& memory,
                          size_t heads, size_t head_size, float* scores, float* out, size_t out_stride);
    // One query [heads * head_size] over positions whose key and value rows are given by pointers (decoder cache; beams
    // share rows). scores: scratch [heads, positions rounded up to 16]
    void (*attend_cache)(const float* query, const float* const* keys, const float* const* values, size_t positions,
                         size_t heads, size_t head_size, float* scores, float* out);
    // One position of a recurrent unit [E3]: projected [2 size] is W x, then W_f x; with f = sigmoid(W_f x +
    // forget_bias): cell = f * cell_before + (1 - f) * W x, out = relu(cell). cell_before is null where there is none.
    void (*recurrent_unit)(const float* projected, const float* forget_bias, const float* cell_before, size_t size,
                           float* cell, float* out);
    // One position of an LSTM [L7]: given + recurrent, each [4 size], are rows of i, f, o and g;
    // cell = sigmoid(f) * cell_before + sigmoid(i) * tanh(g), hidden = sigmoid(o) * tanh(cell). recurrent and
    // cell_before are null where there is no position before. cell may be cell_before.
    void (*lstm_unit)(const float* given, const float* recurrent, const float* cell_before, size_t size, float* cell,
                      float* hidden);
    float (*log_sum_exp)(const float* x, size_t size);  // -inf entries contribute nothing
    // Takes x, values of the indices from `first` on, into the list of the k >= 1 largest so far, best first, ties:
    // what was there first. A list begins with values of -inf, whose places another -inf does not take.
    void (*top_k)(const float* x, size_t size, uint32_t first, size_t k, uint32_t* indices, float* values);
};

struct Kernels {
    InstructionSet instruction_set;
    const char* name;
    FloatProduct float_product;
    IntegerProduct integer_product;
    IntegerProduct six_bit_product;  // executed from 6 bits a weight
    LevelTableProduct level_table_product;
    LevelTableProduct row_table_product;  // a table for each row
    BitPlaneProduct bit_plane_product;
    VectorFunctions vector;
    GridFunctions grid;
};

// Whether this CPU and operating system can run it.
bool supported(InstructionSet instruction_set);
// The table of an instruction set; throws std::runtime_error naming it where the CPU lacks it.
const Kernels& kernels(InstructionSet instruction_set);
// The best supported one, or the one that the environment variable POCKETMT_INSTRUCTION_SET names (throws where unknown
// or unsupported).
const Kernels& best_kernels();
// Multiplies one small block with every product of `table` and compares with the plain reference; throws
// std::runtime_error naming the kernel that disagrees (integer: bit for bit). Run once at load.
void check_kernels(const Kernels& table);

}  // namespace pocketmt
