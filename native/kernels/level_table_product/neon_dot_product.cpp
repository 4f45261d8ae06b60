// 4-bit level table product with NEON's dot product: codes become 8-bit weights by a table look-up in registers.
#include "integer_product/neon_tile.h"
#include "level_table_product/panels.h"
#include "tables.h"

namespace pocketmt::neon_dot_product {
namespace {

struct LevelWeights {
    static constexpr size_t step_bytes = group_bytes;
    int8x16_t table;

    explicit LevelWeights(const IntegerCall& call) : table(vreinterpretq_s8_u8(vld1q_u8(call.levels))) {}

    // A byte of codes has an input of the first group in its low nibble, one of the second in its high one.
    template <size_t group, size_t part>
    POCKETMT_INLINE int8x16_t load(const uint8_t* step) const {
        const uint8x16_t pairs = vld1q_u8(step + part * part_bytes);
        return vqtbl1q_s8(table, group == 0 ? vandq_u8(pairs, vdupq_n_u8(15)) : vshrq_n_u8(pairs, 4));
    }
};

void multiply(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations, size_t count,
              const Epilogue& epilogue, const Outputs& outputs) {
    const uint8_t* levels = static_cast<const uint8_t*>(packed);
    const IntegerCall call =
        integer_call(levels + level_bytes, group_bytes, levels, rows, columns, activations, epilogue, outputs);
    multiply_panels(call, count, tiles<LevelWeights>);
}

}  // namespace

const LevelTableProduct level_table_product = {LevelPanels::packed_bytes, LevelPanels::pack, LevelPanels::unpack_row,
                                               LevelPanels::gather, multiply};

}  // namespace pocketmt::neon_dot_product
