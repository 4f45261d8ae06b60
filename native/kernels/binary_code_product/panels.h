// Packed binary codes: the signs of the weights as words of several neighbouring inputs, in panels of 32 outputs, then
// alphas [panels][bits][32 outputs] floats. Bit k of a word is set where alpha is added for input k of the word.
// Outputs and inputs are padded with zero bits, outputs with zero alphas.
#pragma once

#include <cstddef>
#include <cstdint>

#include "integer_product/panels.h"

namespace pocketmt {

// [panels][bits][words][32 outputs]: bytes, for instruction sets that look up 16 sums of bytes at once. Each half of a
// byte says which of 4 neighbouring inputs are added. Steps of two bytes are complete.
struct ByteLayout {
    using Word = uint8_t;
    static constexpr size_t word_inputs = 8;
    static constexpr size_t step_words = 2;
    static constexpr size_t place(size_t words, size_t, size_t word, size_t bit) { return bit * words + word; }
};

// [panels][words][bits][32 outputs]: 16-bit words, for instruction sets that look up 32 sums of 16 bits at once. A word
// has three groups of 5 inputs, and each group is an index from 0 to 31.
struct WordLayout {
    using Word = uint16_t;
    static constexpr size_t word_inputs = 15;
    static constexpr size_t step_words = 1;
    static constexpr size_t place(size_t, size_t bits, size_t word, size_t bit) { return word * bits + bit; }
};

// Where the parts of a packed block lie.
struct BinaryCodeParts {
    size_t words;        // Number of words of one output and bit.
    size_t panel_words;  // Number of words from one panel to the next.
    size_t alphas;       // Offset in bytes.
};

namespace {

template <class Layout>
constexpr BinaryCodeParts binary_code_parts(const MatrixShape& shape) {
    const size_t steps = ceil_divide(shape.columns, Layout::word_inputs * Layout::step_words);
    const size_t words = steps * Layout::step_words, panel_words = words * shape.bits * panel_outputs;
    return {words, panel_words, panel_count(shape.rows) * panel_words * sizeof(typename Layout::Word)};
}

}  // namespace

// Compiled once, for the baseline instruction set, in panels.cpp.
template <class Layout>
struct BinaryCodePanels {
    static size_t packed_bytes(const MatrixShape& shape);
    static void pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed);
    static void unpack_row(const PackedMatrix& matrix, size_t row, float* out);
    static void gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered);
};

extern template struct BinaryCodePanels<ByteLayout>;
extern template struct BinaryCodePanels<WordLayout>;

}  // namespace pocketmt
