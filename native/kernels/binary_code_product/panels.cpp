#include "binary_code_product/panels.h"

#include <cstring>
#include <stdexcept>
#include <string>

#include "gather.h"

namespace pocketmt {

namespace {

void require_bits(size_t bits) {
    if (bits >= 1 && bits <= most_binary_code_bits) return;
    throw std::invalid_argument("a binary code of " + std::to_string(bits) + " bits: there must be 1 to " +
                                std::to_string(most_binary_code_bits));
}

// Where the word of a row, bit and input lies among those of the block.
template <class Layout>
size_t place(const BinaryCodeParts& parts, size_t bits, size_t row, size_t bit, size_t input) {
    const size_t in_panel = Layout::place(parts.words, bits, input / Layout::word_inputs, bit);
    return row / panel_outputs * parts.panel_words + in_panel * panel_outputs + row % panel_outputs;
}
// `count` bits from bit `first` on, at least 1 and at most 17.
unsigned bits_at(const uint8_t* bytes, size_t first, size_t count) {
    if (first % 8 == 0 && count == 8) return bytes[first / 8];  // Every full word of ByteLayout.
    unsigned found = 0;
    for (size_t byte = first / 8; byte <= (first + count - 1) / 8; ++byte)
        found |= static_cast<unsigned>(bytes[byte]) << (8 * (byte - first / 8));
    return found >> (first % 8) & ((1u << count) - 1);
}
size_t alpha_place(size_t bits, size_t row, size_t bit) {
    return (row / panel_outputs * bits + bit) * panel_outputs + row % panel_outputs;
}

}  // namespace

template <class Layout>
size_t BinaryCodePanels<Layout>::packed_bytes(const MatrixShape& shape) {
    const size_t alphas = panel_count(shape.rows) * shape.bits * panel_outputs;
    return binary_code_parts<Layout>(shape).alphas + alphas * sizeof(float);
}

template <class Layout>
void BinaryCodePanels<Layout>::pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed) {
    using Word = typename Layout::Word;
    const size_t bits = shape.bits, columns = shape.columns;
    require_integer_columns(columns);
    require_bits(bits);
    const BinaryCodeParts parts = binary_code_parts<Layout>(shape);
    std::memset(packed, 0, packed_bytes(shape));
    Word* words = static_cast<Word*>(packed);
    const size_t word_stride = place<Layout>(parts, bits, 0, 0, Layout::word_inputs);
    float* alphas = reinterpret_cast<float*>(static_cast<uint8_t*>(packed) + parts.alphas);
    for (size_t row = 0; row < shape.rows; ++row) {
        for (size_t bit = 0; bit < bits; ++bit) {
            const uint8_t* signs = weights.codes + (row * bits + bit) * ceil_divide(columns, 8);
            Word* word = words + place<Layout>(parts, bits, row, bit, 0);
            for (size_t input = 0; input < columns; input += Layout::word_inputs, word += word_stride) {
                const size_t count = smaller(Layout::word_inputs, columns - input);
                *word = static_cast<Word>(bits_at(signs, input, count));
            }
            alphas[alpha_place(bits, row, bit)] = weights.scales[row * bits + bit];
        }
    }
}

template <class Layout>
void BinaryCodePanels<Layout>::unpack_row(const PackedMatrix& matrix, size_t row, float* out) {
    const size_t bits = matrix.shape.bits;
    const BinaryCodeParts parts = binary_code_parts<Layout>(matrix.shape);
    const auto* words = static_cast<const typename Layout::Word*>(matrix.data);
    const float* alphas = reinterpret_cast<const float*>(static_cast<const uint8_t*>(matrix.data) + parts.alphas);
    for (size_t bit = 0; bit < bits; ++bit) {
        const float alpha = alphas[alpha_place(bits, row, bit)];
        for (size_t input = 0; input < matrix.shape.columns; ++input) {
            const unsigned word = words[place<Layout>(parts, bits, row, bit, input)];
            const float value = (word >> (input % Layout::word_inputs) & 1u) != 0 ? alpha : -alpha;
            out[input] = bit == 0 ? value : out[input] + value;
        }
    }
}

// A unit is a word of each output.
template <class Layout>
void BinaryCodePanels<Layout>::gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count,
                                      void* gathered) {
    using Word = typename Layout::Word;
    const size_t bits = matrix.shape.bits;
    const BinaryCodeParts source = binary_code_parts<Layout>(matrix.shape),
                          target = binary_code_parts<Layout>({count, matrix.shape.columns, bits});
    const uint8_t* from = static_cast<const uint8_t*>(matrix.data);
    uint8_t* to = static_cast<uint8_t*>(gathered);
    gather_lanes<Word, panel_outputs>(reinterpret_cast<const Word*>(from), bits * source.words, indices, count,
                                      reinterpret_cast<Word*>(to));
    gather_lanes<float, panel_outputs>(reinterpret_cast<const float*>(from + source.alphas), bits, indices, count,
                                       reinterpret_cast<float*>(to + target.alphas));
}

template struct BinaryCodePanels<ByteLayout>;
template struct BinaryCodePanels<WordLayout>;

}  // namespace pocketmt
