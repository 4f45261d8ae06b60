// 4-bit level table product with AVX-512 VNNI: codes become 8-bit weights by a byte shuffle in registers, also for
// many rows: a tile of 12 hides the shuffles behind its products.
#include "integer_product/avx512_vnni_tile.h"
#include "level_table_product/panels.h"
#include "tables.h"

namespace pocketmt::avx512_vnni {
namespace {

struct LevelWeights {
    static constexpr size_t step_bytes = group_bytes;
    static constexpr int32_t zero = 128;
    __m512i table;
    __m512i mask = _mm512_set1_epi8(15);

    explicit LevelWeights(const IntegerCall& call)
        : table(_mm512_xor_si512(_mm512_loadu_si512(call.levels), _mm512_set1_epi8(-128))) {}

    POCKETMT_INLINE void load(const uint8_t* step, __m512i (&weights)[4]) const {
        unrolled<2>([&](auto part) POCKETMT_INLINE_LAMBDA {
            const __m512i codes = _mm512_loadu_si512(step + part() * 64);
            const __m512i high = _mm512_and_si512(_mm512_srli_epi16(codes, 4), mask);
            weights[part()] = _mm512_shuffle_epi8(table, _mm512_and_si512(codes, mask));
            weights[2 + part()] = _mm512_shuffle_epi8(table, high);
        });
    }
};

void multiply(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations, size_t count,
              const Epilogue& epilogue, const Outputs& outputs) {
    const uint8_t* levels = static_cast<const uint8_t*>(packed);
    const IntegerCall call =
        integer_call(levels + level_bytes, group_bytes, levels, rows, columns, activations, epilogue, outputs);
    for_row_blocks(call, columns, count, [&](const IntegerCall& block, size_t height) {
        multiply_panels(block, height, tiles<LevelWeights>);
    });
}

}  // namespace

const LevelTableProduct level_table_product = {LevelPanels::packed_bytes, LevelPanels::pack, LevelPanels::unpack_row,
                                               LevelPanels::gather, multiply};

}  // namespace pocketmt::avx512_vnni
