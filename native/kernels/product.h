// The product of activations with a weight matrix: one interface for every family of weights.
//
// A weight matrix has `rows` outputs and `columns` inputs. Activations are `count` rows of `columns` values, results
// are `count` rows of `rows` floats, all row-major, with strides in elements; count is at least 1. Every output depends
// only on its own row of activations and its own row of weights, and is summed in an order that does not depend on
// `count`. The translation of a sentence therefore never depends on the sentences that are translated with it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "activation.h"

namespace pocketmt {

enum class ProductFamily {
    float32,           // fp32 weights.
    integer,           // 8-bit integers, one scale a row.
    six_bit,           // Integers in [-32, 31], one scale a row; packed in 6 bits.
    lookup_table,      // 4-bit codes: weight = levels[code] * scale(row); one table of 16 levels for all rows.
    row_lookup_table,  // 4-bit codes with a table of 16 levels for each row.
    binary_code,       // weight = sum over bits of +alpha(row, bit) or -alpha (Chung et al. 2020, section 2.2).
};
constexpr size_t product_family_count = 6;

// Most bits of a binary code; packing more throws std::invalid_argument.
constexpr size_t most_binary_code_bits = 2;
// Most columns of weights that are not fp32: the 32-bit sums of more could overflow. Packing more throws
// std::invalid_argument.
constexpr size_t most_integer_columns = 65536;

struct MatrixShape {
    size_t rows;
    size_t columns;
    size_t bits = 0;  // Number of bits of a binary code; other families do not read it.
};

// Weights as they are given to be packed. A family reads the arrays that name it.
struct UnpackedWeights {
    const float* floats = nullptr;     // float32: [rows, columns].
    const int8_t* integers = nullptr;  // integer, six_bit: [rows, columns].
    // Lookup tables: [rows, (columns + 1) / 2], the even column in the low nibble. Binary code: [rows, bits,
    // (columns + 7) / 8], the first column in the lowest bit; a set bit means +alpha.
    const uint8_t* codes = nullptr;
    const int8_t* levels = nullptr;  // lookup_table: [16]; row_lookup_table: [rows, 16]. From -127 to 127.
    const float* scales = nullptr;   // All but float32: [rows]; of a binary code the alphas, [rows, bits].
};

// A packed block is allocated by the caller, 64-byte aligned, Product::packed_bytes long. Only the product that packed
// it can read it.
struct PackedMatrix {
    const void* data;
    MatrixShape shape;
};

// Activations quantized to 8 bits: value = code * scale. Codes are from -127 to 127 (Behnke et al. 2021, section 3.2);
// those of a trained range can be -128, and their offset is then part of the epilogue (fake_quantization/).
struct QuantizedActivations {
    const int8_t* codes = nullptr;  // [count, stride], zero from `columns` to `stride`.
    const float* scales = nullptr;  // [count].
    size_t stride = 0;              // `columns` rounded up to a multiple of activation_alignment.
};
constexpr size_t activation_alignment = 64;

// The activations of a product; Product::quantized_input says which of the two it reads.
struct ProductInput {
    size_t count;
    const float* floats = nullptr;  // [count, float_stride].
    size_t float_stride = 0;
    QuantizedActivations quantized = {};
};

// The last steps of a product: out = activation(product + sum(activations) * offset + bias), in this order. A null
// array adds nothing.
struct Epilogue {
    const float* bias = nullptr;  // [rows].
    Activation activation = Activation::none;
    const float* offsets = nullptr;  // [rows]: added to every weight of a row; float32 does not read it.
};

// Where a product writes its results, rows of floats `stride` apart. Several threads can share a product: each computes
// the outputs from `first` to `last` - 1. Both are multiples of part_outputs, or `last` is at least the number of rows.
struct Outputs {
    float* values;  // Address of the output `first` of the first row.
    size_t stride;
    size_t first = 0;
    size_t last = static_cast<size_t>(-1);
};
constexpr size_t part_outputs = 64;

// The product of one family. Arrays of the caller are never read or written outside the shapes that are given here; the
// results must not overlap the inputs.
struct Product {
    const char* name;
    bool quantized_input = true;  // Whether it reads quantized activations.
    // Whether each call first computes tables of the activations, so that several calls for few outputs each cost more
    // than one call.
    bool tabulates_input = false;
    size_t (*packed_bytes)(const MatrixShape& shape);
    // Rows of float32 can be packed in parts, each to where packed_bytes of the rows before it ends; the number of
    // those rows is a multiple of float_part_rows.
    void (*pack)(const UnpackedWeights& weights, const MatrixShape& shape, void* packed);
    // Writes one row of weights as floats [columns].
    void (*unpack_row)(const PackedMatrix& matrix, size_t row, float* out);
    // Packs the rows `indices` [count], at least one, as a block [count, columns]. A row gives the same results, bit
    // for bit, in any block.
    void (*gather)(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered);
    void (*multiply)(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                     const Outputs& outputs);
};
constexpr size_t float_part_rows = 64;

}  // namespace pocketmt
