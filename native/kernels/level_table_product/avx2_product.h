// 4-bit level table product on 256-bit registers: codes become 8-bit weights by a byte shuffle in registers.
#pragma once

#include "integer_product/avx2_tile.h"
#include "level_table_product/panels.h"

namespace pocketmt {
namespace {

template <class Products>
struct LevelWeights {
    using Loaded = Products;
    static constexpr size_t step_bytes = group_bytes;
    __m256i table;
    __m256i mask = _mm256_set1_epi8(15);

    explicit LevelWeights(const IntegerCall& call)
        : table(_mm256_add_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(call.levels)),
                                _mm256_set1_epi8(static_cast<char>(Products::zero)))) {}

    // A byte of codes has an input of the first group in its low nibble, one of the second in its high one.
    template <size_t group, size_t part>
    POCKETMT_INLINE Loaded load(const uint8_t* step) const {
        __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(step + part * part_bytes));
        if constexpr (group == 1) codes = _mm256_srli_epi16(codes, 4);
        return Loaded(_mm256_shuffle_epi8(table, _mm256_and_si256(codes, mask)));
    }
};

template <class Products>
void multiply_levels(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations,
                     size_t count, const Epilogue& epilogue, const Outputs& outputs) {
    const uint8_t* levels = static_cast<const uint8_t*>(packed);
    const IntegerCall call =
        integer_call(levels + level_bytes, group_bytes, levels, rows, columns, activations, epilogue, outputs);
    multiply_panels(call, count, tiles<LevelWeights<Products>>);
}

}  // namespace
}  // namespace pocketmt
