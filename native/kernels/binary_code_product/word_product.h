// The product of binary codes by look-ups of 16-bit words (AVX-512): five bits of a code look up the sum of the five
// activations that they choose, for 32 outputs at once. BiQGEMM (Jeon et al. 2020) and T-MAC look up such sums too.
// This is faster than a dot product of the bits, which is no faster than a dot product of bytes, also for many rows.
#pragma once

#include "binary_code_product/word_tables.h"
#include "epilogue.h"
#include "integer_product/prefetch.h"

namespace pocketmt {
namespace {

using BinaryCodeLayout = WordLayout;

constexpr size_t tile_rows = 4;  // Their tables of 512 inputs stay in the first-level cache.
constexpr size_t tile_planes = 4;
// The tables of a block of rows, and the panels that they pass over in turn, stay in the second-level cache.
constexpr size_t largest_block_rows = 16;
constexpr size_t block_tables = 4096;
constexpr size_t panel_block_words = 32768;
// This many words have 51 groups: 51 * 5 * 127 fits 16 bits.
constexpr size_t exact_words = 17;

struct WordCall {
    const uint16_t* words;
    const float* alphas;
    BinaryCodeParts parts;
    size_t rows;  // Number of outputs.
    QuantizedActivations activations;
    int32_t activation_sums[largest_block_rows];  // Sum of each row's codes.
    Epilogue epilogue;
    Outputs outputs;
};

struct WordRange {
    size_t first_row;
    size_t first_panel;
    size_t last_panel;  // One beyond the last.
};

// The indices of a group in the low 5 bits of each word, which are the only ones that vpermw reads. The shift is the
// high half of a multiplication, because look-ups and shifts would compete for the same port.
template <size_t group>
POCKETMT_INLINE __m512i group_indices(__m512i words) {
    if constexpr (group == 0) {
        return words;
    } else {
        return _mm512_mulhi_epu16(words, _mm512_set1_epi16(1 << (16 - group * group_of_codes)));
    }
}

// sums += table[indices]. Assembly, because GCC 12 orders the additions in a way that takes more registers than there
// are.
POCKETMT_INLINE void add_looked_up(__m512i& sums, __m512i indices, __m512i table) {
    __m512i found;
    __asm__("vpermw %3, %2, %1\n\tvpaddw %1, %0, %0" : "+v"(sums), "=&v"(found) : "v"(indices), "v"(table));
}

// Computes 16-bit sums of the words from `first_word` to `last_word` - 1 for each row of activations, panel and bit
// (the planes). Panels are `panel_words` apart.
template <size_t rows, size_t bits, size_t panels>
POCKETMT_INLINE void sum_words(const uint16_t* codes, size_t panel_words, const __m512i* const (&tables)[rows],
                               size_t first_word, size_t last_word, __m512i (&sums)[rows][bits * panels]) {
    unrolled<rows * bits * panels>([&](auto index) POCKETMT_INLINE_LAMBDA {
        sums[index() / (bits * panels)][index() % (bits * panels)] = _mm512_setzero_si512();
    });
    for (size_t word = first_word; word < last_word; ++word) {
        __m512i loaded[bits * panels];
        unrolled<bits * panels>([&](auto plane) POCKETMT_INLINE_LAMBDA {
            constexpr size_t panel = plane() / bits, bit = plane() % bits;
            const uint16_t* place = codes + panel * panel_words + (word * bits + bit) * panel_outputs;
            prefetch<sizeof(__m512i)>(place);
            loaded[plane()] = _mm512_loadu_si512(place);
        });
        unrolled<word_groups>([&](auto group) POCKETMT_INLINE_LAMBDA {
            __m512i indices[bits * panels];
            unrolled<bits * panels>(
                [&](auto plane) POCKETMT_INLINE_LAMBDA { indices[plane()] = group_indices<group()>(loaded[plane()]); });
            unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                const __m512i table = _mm512_load_si512(tables[row()] + word * word_groups + group());
                unrolled<bits * panels>([&](auto plane) POCKETMT_INLINE_LAMBDA {
                    add_looked_up(sums[row()][plane()], indices[plane()], table);
                });
            });
        });
    }
}

// Converts the sums of rows of activations and half of a panel, one sum for each bit, to floats and stores them, in the
// operations of reference::multiply. sums(row): those of row row(), [bits][2].
template <size_t rows, size_t bits, class Sums>
POCKETMT_INLINE void store_sums(const WordCall& call, size_t first_row, size_t panel, size_t part, const Sums& sums) {
    __m512 alphas[bits];
    unrolled<bits>([&](auto bit) POCKETMT_INLINE_LAMBDA {
        alphas[bit()] = _mm512_loadu_ps(call.alphas + (panel * bits + bit()) * panel_outputs + part * 16);
    });
    const int32_t* activation_sums = call.activation_sums + first_row;
    store_quantized(
        OutputLanes(call.epilogue, call.outputs, call.rows, first_row, panel * panel_outputs + part * 16),
        call.activations.scales + first_row, activation_sums,
        [](const auto& body) POCKETMT_INLINE_LAMBDA { unrolled<rows>(body); },
        [&](auto row, float activation_scale) POCKETMT_INLINE_LAMBDA {
            const __m512i all = _mm512_set1_epi32(activation_sums[row()]);
            __m512 value = _mm512_setzero_ps();
            unrolled<bits>([&](auto bit) POCKETMT_INLINE_LAMBDA {
                const __m512 scale = _mm512_mul_ps(_mm512_set1_ps(activation_scale), alphas[bit()]);
                const __m512i sum = _mm512_sub_epi32(_mm512_slli_epi32(sums(row)[bit()][part], 1), all);
                const __m512 term = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale);
                value = bit() == 0 ? term : _mm512_add_ps(value, term);
            });
            return value;
        });
}

template <size_t rows, size_t bits, size_t panels>
void multiply_tile(const WordCall& call, const WordTables& lookup, const WordRange& range) {
    constexpr size_t planes = bits * panels;
    const __m512i* tables[rows];
    for (size_t row = 0; row < rows; ++row) tables[row] = lookup.row(range.first_row + row);
    for (size_t panel = range.first_panel; panel < range.last_panel; panel += panels) {
        const uint16_t* codes = call.words + panel * call.parts.panel_words;
        __m512i sums[rows][planes][2] = {};
        for (size_t word = 0; word < call.parts.words; word += exact_words) {
            const size_t last_word = smaller(word + exact_words, call.parts.words);
            __m512i short_sums[rows][planes];
            sum_words<rows, bits, panels>(codes, call.parts.panel_words, tables, word, last_word, short_sums);
            unrolled<rows * planes>([&](auto index) POCKETMT_INLINE_LAMBDA {
                const __m512i sum = short_sums[index() / planes][index() % planes];
                __m512i(&both)[2] = sums[index() / planes][index() % planes];
                both[0] = _mm512_add_epi32(both[0], _mm512_cvtepi16_epi32(_mm512_castsi512_si256(sum)));
                both[1] = _mm512_add_epi32(both[1], _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(sum, 1)));
            });
        }
        unrolled<panels * 2>([&](auto index) POCKETMT_INLINE_LAMBDA {
            constexpr size_t place = index() / 2, part = index() % 2;
            store_sums<rows, bits>(call, range.first_row, panel + place, part,
                                   [&](auto row) POCKETMT_INLINE_LAMBDA { return sums[row()] + place * bits; });
        });
    }
}

// Several panels at a time share the tables that are loaded; their number is the one that was measured fastest. The
// remaining panels are computed one by one.
template <size_t rows, size_t bits>
void multiply_range(const WordCall& call, const WordTables& lookup, WordRange range) {
    constexpr size_t panels = rows == 1 ? ceil_divide(tile_planes, bits) : ceil_divide(2, bits);
    const size_t last_panel = range.last_panel;
    if constexpr (panels > 1) {
        range.last_panel -= (range.last_panel - range.first_panel) % panels;
        multiply_tile<rows, bits, panels>(call, lookup, range);
        range.first_panel = range.last_panel;
    }
    multiply_tile<rows, bits, 1>(call, lookup, {range.first_row, range.first_panel, last_panel});
}

using RangeFunction = void (*)(const WordCall&, const WordTables&, WordRange);
template <size_t bits>
constexpr RangeFunction ranges[] = {multiply_range<1, bits>, multiply_range<2, bits>, multiply_range<3, bits>,
                                    multiply_range<tile_rows, bits>};
constexpr const RangeFunction* ranges_of_bits[] = {ranges<1>, ranges<most_binary_code_bits>};

void multiply_block(WordCall& call, WordTables& tables, size_t columns, size_t bits, size_t count) {
    for (size_t row = 0; row < count; ++row) {
        const int8_t* codes = call.activations.codes + row * call.activations.stride;
        call.activation_sums[row] = Registers::sum_codes(codes, columns);
        tables.fill(row, codes, columns);
    }
    const size_t last = last_panel(call.outputs, call.rows);
    const size_t blocked = count <= tile_rows ? last : panel_block_words / call.parts.panel_words;
    const size_t step = larger(round_up(blocked, tile_planes), tile_planes);
    for (size_t panel = first_panel(call.outputs); panel < last; panel += step) {
        for_tiles<tile_rows>(count, [&](size_t row, size_t height) {
            ranges_of_bits[bits - 1][height - 1](call, tables, {row, panel, smaller(panel + step, last)});
        });
    }
}

inline void multiply_binary_codes(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                                  const Outputs& outputs) {
    const BinaryCodeParts parts = binary_code_parts<WordLayout>(matrix.shape);
    const uint16_t* words = static_cast<const uint16_t*>(matrix.data);
    const float* alphas = reinterpret_cast<const float*>(static_cast<const uint8_t*>(matrix.data) + parts.alphas);
    WordCall call{words, alphas, parts, matrix.shape.rows, input.quantized, {}, epilogue, outputs};
    const size_t fitting_rows = larger(block_tables / (parts.words * word_groups), tile_rows);
    const size_t block_rows = smaller(input.count, smaller(fitting_rows, largest_block_rows));
    WordTables tables(parts.words, block_rows);
    for (size_t row = 0; row < input.count; row += block_rows) {
        const size_t height = smaller(block_rows, input.count - row);
        multiply_block(call, tables, matrix.shape.columns, matrix.shape.bits, height);
        call.activations.codes += height * call.activations.stride;
        call.activations.scales += height;
        call.outputs.values += height * call.outputs.stride;
    }
}

}  // namespace
}  // namespace pocketmt
