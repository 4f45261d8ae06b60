// Product of 4-bit codes with a table of levels for each row, with AVX-512 VNNI.
#include "integer_product/avx512_vnni_operations.h"
#include "row_table_product/tile.h"
#include "tables.h"

namespace pocketmt::avx512_vnni {
namespace {

constexpr size_t highest_row_tile = 6;  // 24 sums, and room for tables and weights among 32 registers

// See row_table_tile.
struct LookUps {
    using Registers = pocketmt::Registers;
    using Bytes = __m512i;
    static constexpr size_t lanes = 4;
    static constexpr int32_t zero = 128;  // added to each level, so that none is negative

    struct Weights {
        __m512i levels;
        POCKETMT_INLINE __m512i add(__m512i sums, __m512i activations) const {
            add_products(sums, levels, activations);
            return sums;
        }
    };

    POCKETMT_INLINE static __m512i load(const uint8_t* bytes) { return _mm512_loadu_si512(bytes); }
    POCKETMT_INLINE static __m512i table(const uint8_t* bytes) {
        return _mm512_xor_si512(_mm512_loadu_si512(bytes), _mm512_set1_epi8(-128));
    }
    template <size_t half>
    POCKETMT_INLINE static Weights levels(__m512i table, __m512i codes) {
        if constexpr (half == 1) codes = _mm512_srli_epi16(codes, 4);
        return {_mm512_shuffle_epi8(table, _mm512_and_si512(codes, _mm512_set1_epi8(15)))};
    }
    POCKETMT_INLINE static __m512i broadcast(const int8_t* codes) {
        return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
    }
    POCKETMT_INLINE static __m512i added_up(const __m512i (&sums)[part_registers]) {
        const __m512i first =
            _mm512_add_epi32(_mm512_unpacklo_epi32(sums[0], sums[1]), _mm512_unpackhi_epi32(sums[0], sums[1]));
        const __m512i second =
            _mm512_add_epi32(_mm512_unpacklo_epi32(sums[2], sums[3]), _mm512_unpackhi_epi32(sums[2], sums[3]));
        return _mm512_add_epi32(_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second));
    }
    POCKETMT_INLINE static __m512i add(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
    POCKETMT_INLINE static __m512i corrected(const IntegerCall&, __m512i sums, size_t, int32_t activation_sum) {
        return _mm512_sub_epi32(sums, _mm512_set1_epi32(zero * activation_sum));
    }
    template <size_t rows>
    POCKETMT_INLINE static void activation_sums(const IntegerCall& call, size_t first_row, int32_t (&sums)[rows]) {
        for (size_t row = 0; row < rows; ++row) sums[row] = call.activation_sums[first_row + row];
    }
};

constexpr TileFunction row_tiles[highest_row_tile] = {row_table_tile<1, LookUps>, row_table_tile<2, LookUps>,
                                                      row_table_tile<3, LookUps>, row_table_tile<4, LookUps>,
                                                      row_table_tile<5, LookUps>, row_table_tile<6, LookUps>};

void multiply(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations, size_t count,
              const Epilogue& epilogue, const Outputs& outputs) {
    const IntegerCall call = row_table_call(packed, rows, columns, activations, epilogue, outputs);
    for_row_blocks(call, columns, count,
                   [&](const IntegerCall& block, size_t height) { multiply_panels(block, height, row_tiles); });
}

}  // namespace

const LevelTableProduct row_table_product = {
    RowTablePanels<LookUps::lanes>::packed_bytes, RowTablePanels<LookUps::lanes>::pack,
    RowTablePanels<LookUps::lanes>::unpack_row, RowTablePanels<LookUps::lanes>::gather, multiply};

}  // namespace pocketmt::avx512_vnni
