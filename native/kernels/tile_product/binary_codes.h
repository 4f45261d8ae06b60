// Binary codes as tile registers multiply them: a bit of each weight at a time, as a weight of -1 or +1.
//
// Their words have 15 inputs (binary_code_product/panels.h). Activations are copied with a zero after each 15, so that
// words of 16 fill the groups of 4 inputs.
#pragma once

#include <cstring>

#include "binary_code_product/panels.h"
#include "tile_product/multiply.h"
#include "tile_product/sources.h"

namespace pocketmt {
namespace {

constexpr size_t padded_word_inputs = 16;

// One bit of the weights, as 0 or 2: the weight + 1.
struct SignWeights {
    struct Products {
        static constexpr int32_t zero = 1;
    };
    static constexpr size_t unit_inputs = padded_word_inputs;
    size_t panel_scales;  // As many as there are words of 15 inputs: one for each output and bit.

    explicit SignWeights(const IntegerCall& call) : panel_scales(call.panel_bytes / call.steps / sizeof(uint16_t)) {}
    POCKETMT_INLINE void prepare(const uint8_t* panel, size_t unit, uint8_t* to) const {
        const __m512i words = _mm512_loadu_si512(panel + unit * panel_scales * sizeof(uint16_t));
        prepare_part(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(words)), to);
        prepare_part(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(words, 1)), to + tile_row_bytes);
    }

  private:
    // The weights of 16 outputs, whose words are given.
    POCKETMT_INLINE static void prepare_part(__m512i words, uint8_t* to) {
        unrolled<padded_word_inputs / group_inputs>([&](auto group) POCKETMT_INLINE_LAMBDA {
            // The byte that has the bits of the group, four times, and which of them belongs to which input.
            constexpr int byte = group() / 2, shift = group() % 2 * 4;
            const __m512i pattern = _mm512_set4_epi32(0x0c0c0c0c + byte * 0x01010101, 0x08080808 + byte * 0x01010101,
                                                      0x04040404 + byte * 0x01010101, byte * 0x01010101);
            const __m512i bits = _mm512_set1_epi32(0x08040201 << shift);
            const __mmask64 set = _mm512_test_epi8_mask(_mm512_shuffle_epi8(words, pattern), bits);
            _mm512_storeu_si512(to + group() * group_bytes, _mm512_maskz_mov_epi8(set, _mm512_set1_epi8(2)));
        });
    }
};

// Activations with a zero after each 15.
class PaddedActivations {
  public:
    PaddedActivations(const ProductInput& input, size_t columns, size_t words)
        : stride_(round_up(words * padded_word_inputs, activation_alignment)), memory_(input.count * stride_) {
        std::memset(memory_.data(), 0, input.count * stride_);
        for (size_t row = 0; row < input.count; ++row) {
            const int8_t* from = input.quantized.codes + row * input.quantized.stride;
            uint8_t* to = memory_.data() + row * stride_;
            for (size_t column = 0; column < columns; column += WordLayout::word_inputs, to += padded_word_inputs)
                std::memcpy(to, from + column, smaller(WordLayout::word_inputs, columns - column));
        }
    }
    QuantizedActivations quantized(const float* scales) const {
        return {reinterpret_cast<const int8_t*>(memory_.data()), scales, stride_};
    }

  private:
    size_t stride_;
    Scratch<16384> memory_;
};

// The products of the bits, one after another, are added up in the outputs.
inline void multiply_signs_in_tiles(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                                    const Outputs& outputs) {
    const BinaryCodeParts parts = binary_code_parts<WordLayout>(matrix.shape);
    const uint8_t* bytes = static_cast<const uint8_t*>(matrix.data);
    const float* alphas = reinterpret_cast<const float*>(bytes + parts.alphas);
    const PaddedActivations padded(input, matrix.shape.columns, parts.words);
    using Source = PreparedPanels<SignWeights>;
    for (size_t bit = 0; bit < matrix.shape.bits; ++bit) {
        IntegerCall call{};
        call.weights = bytes + bit * panel_outputs * sizeof(uint16_t);
        call.rows = matrix.shape.rows;
        call.columns = parts.words * padded_word_inputs;
        call.steps = parts.words;
        call.panel_bytes = parts.panel_words * sizeof(uint16_t);
        call.weight_scales = alphas + bit * panel_outputs;
        call.activations = padded.quantized(input.quantized.scales);
        if (bit + 1 == matrix.shape.bits) call.epilogue = epilogue;
        call.outputs = outputs;
        multiply_blocks(call, input.count, true, [&](const IntegerCall& block, size_t rows) {
            bit == 0 ? multiply_tiles<Source, false>(block, rows) : multiply_tiles<Source, true>(block, rows);
        });
    }
}

}  // namespace
}  // namespace pocketmt
