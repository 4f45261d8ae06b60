// Tables of partial sums of activations, for instructions that look up 16-bit words in tables of 32 (AVX-512).
#pragma once

#include <new>

#include "binary_code_product/panels.h"
#include "registers.h"

namespace pocketmt {
namespace {

constexpr size_t group_of_codes = 5;  // Inputs that one index chooses from.
constexpr size_t word_groups = 3;
constexpr size_t word_inputs = WordLayout::word_inputs;

// Whether an entry chooses an input, for each entry and two neighbouring inputs; no entry chooses a sixth input.
struct Choices {
    alignas(64) uint8_t pairs[(group_of_codes + 1) / 2][64] = {};
    constexpr Choices() {
        for (size_t entry = 0; entry < 32; ++entry) {
            for (size_t input = 0; input < group_of_codes; ++input)
                pairs[input / 2][entry * 2 + input % 2] = entry >> input & 1;
        }
    }
};
constexpr Choices choices;

// For each group of 5 activations of some rows, the 32 sums over its subsets: entry e is the sum of the activations
// whose bit is set in e.
class WordTables {
  public:
    WordTables(size_t words, size_t rows)
        : row_tables_(words * word_groups),
          tables_(rows * row_tables_ <= stack_tables ? own_ : new_tables(rows * row_tables_)) {}
    ~WordTables() {
        if (tables_ != own_) ::operator delete(tables_, std::align_val_t(64));
    }
    WordTables(const WordTables&) = delete;
    WordTables& operator=(const WordTables&) = delete;

    const __m512i* row(size_t row) const { return tables_ + row * row_tables_; }

    void fill(size_t row, const int8_t* codes, size_t columns) {
        __m512i* tables = tables_ + row * row_tables_;
        const size_t whole = columns / word_inputs * word_groups;
        for (size_t group = 0; group + 1 < whole; ++group)
            tables[group] = sums_of_subsets(codes + group * group_of_codes);
        // The remaining groups, and the one whose sixth code may be beyond the row, from a copy padded with zeros.
        const size_t first = whole == 0 ? 0 : whole - 1;
        int8_t rest[word_inputs + group_of_codes + 1] = {};
        __builtin_memcpy(rest, codes + first * group_of_codes, columns - first * group_of_codes);
        for (size_t group = first; group < row_tables_; ++group)
            tables[group] = sums_of_subsets(rest + (group - first) * group_of_codes);
    }

  private:
    static constexpr size_t stack_tables = 512;  // 32 KiB

    static __m512i* new_tables(size_t count) {
        return static_cast<__m512i*>(::operator new(count * sizeof(__m512i), std::align_val_t(64)));
    }

    template <size_t pair>
    POCKETMT_INLINE static __m512i sums_of_pair(const int8_t* codes) {
        int16_t two;
        __builtin_memcpy(&two, codes + pair * 2, sizeof two);
        return _mm512_maddubs_epi16(_mm512_load_si512(choices.pairs[pair]), _mm512_set1_epi16(two));
    }
    // Reads 6 codes.
    POCKETMT_INLINE static __m512i sums_of_subsets(const int8_t* codes) {
        return _mm512_add_epi16(_mm512_add_epi16(sums_of_pair<0>(codes), sums_of_pair<1>(codes)),
                                sums_of_pair<2>(codes));
    }

    size_t row_tables_;
    __m512i own_[stack_tables];
    __m512i* tables_;
};

}  // namespace
}  // namespace pocketmt
