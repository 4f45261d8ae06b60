// Products of 4-bit log codes with 4-bit log codes [L5], by exponent sums and, of single vectors, by every other way
// that paper L compares them with (Table 5). The engine multiplies by the level table; these are built to measure
// whether it should not (benchmarks/log_products.py), and for tests.
//
// A code is sign << 3 | m and stands for +-2^(7 - m), m = 0 .. 7, as in quantization/logarithmic.py, but for the top
// level, which is 128 here: exponents have no 127.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pocketmt::testing {

// Eight codes in a word, input k of a step in bits 4k .. 4k + 3, so that their exponents can be added all at once: m is
// at most 7, and a sum at most 14, which fits its four bits.
using CodeWord = uint32_t;
constexpr size_t word_codes = 8;
constexpr CodeWord exponent_bits = 0x77777777u;
// 2^(7-m) 2^(7-n) = 2^14 >> (m + n).
constexpr int32_t largest_product = 1 << 14;

// Weights for exponent sums: words [panels][steps][16 outputs], then scales [panels * 16] floats. What pads the inputs
// is code 0 on both sides, whose products are known and taken off again.
constexpr size_t exponent_panel_outputs = 16;

struct ExponentMatrix {
    const CodeWord* words;
    const float* scales;
    size_t rows;
    size_t columns;

    size_t panels() const { return (rows + exponent_panel_outputs - 1) / exponent_panel_outputs; }
    size_t steps() const { return (columns + word_codes - 1) / word_codes; }
    // What sums start at.
    int32_t padding() const { return -static_cast<int32_t>(steps() * word_codes - columns) * largest_product; }
};

// Vectors of 128 elements, one after the other: out [pairs] = the dot products of a [pairs, 128] and b [pairs, 128].
constexpr size_t vector_size = 128;
constexpr size_t vector_words = vector_size / word_codes;

struct LogProducts {
    // out [rows] = (sum of products) * (scale * scale of the row); activations: words [steps].
    void (*multiply)(const ExponentMatrix& weights, const CodeWord* activations, float scale, float* out);
    void (*float_dots)(const float* a, const float* b, size_t pairs, float* out);
    // b: levels + 128, as instructions that multiply unsigned by signed bytes want weights; a_sums: of each row of a.
    void (*integer_dots)(const int8_t* a, const int32_t* a_sums, const uint8_t* b, size_t pairs, float* out);
    // b: [pairs, 64] bytes, element i of a vector in the low half of byte i, element 64 + i in the high half of it.
    void (*level_table_dots)(const int8_t* a, const int32_t* a_sums, const uint8_t* b, const int8_t* levels,
                             size_t pairs, float* out);
    // a, b: words [pairs, 16].
    void (*exponent_sum_dots)(const CodeWord* a, const CodeWord* b, size_t pairs, float* out);
};

namespace portable {
extern const LogProducts log_products;
}
namespace avx2 {
extern const LogProducts log_products;
}
namespace avx512_vnni {
extern const LogProducts log_products;
}

}  // namespace pocketmt::testing
