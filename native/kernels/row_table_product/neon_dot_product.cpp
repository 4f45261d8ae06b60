// Product of 4-bit codes with a table of levels for each row, with NEON's dot product.
#include "integer_product/neon_operations.h"
#include "row_table_product/tile.h"
#include "tables.h"

namespace pocketmt::neon_dot_product {
namespace {

constexpr size_t highest_row_tile = 4;  // 16 sums, and room for tables, weights and activations among 32 registers

// See row_table_tile.
struct LookUps {
    using Registers = pocketmt::Registers;
    using Bytes = uint8x16_t;
    static constexpr size_t lanes = 1;

    struct Weights {
        int8x16_t levels;
        POCKETMT_INLINE int32x4_t add(int32x4_t sums, int8x16_t activations) const {
            return vdotq_s32(sums, levels, activations);
        }
    };

    POCKETMT_INLINE static uint8x16_t load(const uint8_t* bytes) { return vld1q_u8(bytes); }
    POCKETMT_INLINE static uint8x16_t table(const uint8_t* bytes) { return vld1q_u8(bytes); }
    template <size_t half>
    POCKETMT_INLINE static Weights levels(uint8x16_t table, uint8x16_t codes) {
        const uint8x16_t indices = half == 0 ? vandq_u8(codes, vdupq_n_u8(15)) : vshrq_n_u8(codes, 4);
        return {vreinterpretq_s8_u8(vqtbl1q_u8(table, indices))};
    }
    POCKETMT_INLINE static int8x16_t broadcast(const int8_t* codes) { return vld1q_s8(codes); }
    POCKETMT_INLINE static int32x4_t added_up(const int32x4_t (&sums)[part_registers]) {
        return vpaddq_s32(vpaddq_s32(sums[0], sums[1]), vpaddq_s32(sums[2], sums[3]));
    }
    POCKETMT_INLINE static int32x4_t add(int32x4_t a, int32x4_t b) { return vaddq_s32(a, b); }
    POCKETMT_INLINE static int32x4_t corrected(const IntegerCall&, int32x4_t sums, size_t, int32_t) { return sums; }
    template <size_t rows>
    POCKETMT_INLINE static void activation_sums(const IntegerCall& call, size_t first_row, int32_t (&sums)[rows]) {
        if (call.epilogue.offsets) sum_rows(call.activations, first_row, call.steps * lane_inputs, sums);
    }
};

constexpr TileFunction row_tiles[highest_row_tile] = {row_table_tile<1, LookUps>, row_table_tile<2, LookUps>,
                                                      row_table_tile<3, LookUps>, row_table_tile<4, LookUps>};

void multiply(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations, size_t count,
              const Epilogue& epilogue, const Outputs& outputs) {
    const IntegerCall call = row_table_call(packed, rows, columns, activations, epilogue, outputs);
    multiply_panels(call, count, row_tiles);
}

}  // namespace

const LevelTableProduct row_table_product = {
    RowTablePanels<LookUps::lanes>::packed_bytes, RowTablePanels<LookUps::lanes>::pack,
    RowTablePanels<LookUps::lanes>::unpack_row, RowTablePanels<LookUps::lanes>::gather, multiply};

}  // namespace pocketmt::neon_dot_product
