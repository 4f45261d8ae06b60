// Product of 4-bit codes with a table of levels for each row, on 256-bit registers.
#pragma once

#include "integer_product/avx2_operations.h"
#include "row_table_product/tile.h"

namespace pocketmt {
namespace {

// See row_table_tile. `Products`: made of 32 levels, as the tiles of 8-bit weights have them (integer_product).
template <class Products>
struct LookUps {
    using Registers = pocketmt::Registers;
    using Bytes = __m256i;
    static constexpr size_t lanes = 2;

    POCKETMT_INLINE static __m256i load(const uint8_t* bytes) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
    }
    POCKETMT_INLINE static __m256i table(const uint8_t* bytes) {
        return _mm256_add_epi8(load(bytes), _mm256_set1_epi8(static_cast<char>(Products::zero)));
    }
    template <size_t half>
    POCKETMT_INLINE static Products levels(__m256i table, __m256i codes) {
        if constexpr (half == 1) codes = _mm256_srli_epi16(codes, 4);
        return Products(_mm256_shuffle_epi8(table, _mm256_and_si256(codes, _mm256_set1_epi8(15))));
    }
    POCKETMT_INLINE static __m256i broadcast(const int8_t* codes) {
        return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
    }
    POCKETMT_INLINE static __m256i added_up(const __m256i (&sums)[part_registers]) {
        return _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0], sums[1]), _mm256_hadd_epi32(sums[2], sums[3]));
    }
    POCKETMT_INLINE static __m256i add(__m256i a, __m256i b) { return _mm256_add_epi32(a, b); }
    POCKETMT_INLINE static __m256i corrected(const IntegerCall& call, __m256i sums, size_t output,
                                             int32_t activation_sum) {
        return _mm256_add_epi32(sums, Products::first_sums(call.negative_sums, output, activation_sum));
    }
    template <size_t rows>
    POCKETMT_INLINE static void activation_sums(const IntegerCall& call, size_t first_row, int32_t (&sums)[rows]) {
        if (call.epilogue.offsets || Products::zero != 0)
            sum_rows(call.activations, first_row, call.steps * lane_inputs, sums);
    }
};

template <class Products>
constexpr TileFunction row_tiles[] = {row_table_tile<1, LookUps<Products>>, row_table_tile<2, LookUps<Products>>};

template <class Products>
void multiply_row_tables(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations,
                         size_t count, const Epilogue& epilogue, const Outputs& outputs) {
    const IntegerCall call = row_table_call(packed, rows, columns, activations, epilogue, outputs);
    multiply_panels(call, count, row_tiles<Products>);
}

template <class Products>
constexpr LevelTableProduct row_tables = {
    RowTablePanels<LookUps<Products>::lanes>::packed_bytes, RowTablePanels<LookUps<Products>::lanes>::pack,
    RowTablePanels<LookUps<Products>::lanes>::unpack_row, RowTablePanels<LookUps<Products>::lanes>::gather,
    multiply_row_tables<Products>};

}  // namespace
}  // namespace pocketmt
