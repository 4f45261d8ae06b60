// Bit plane product with NEON: four bits of a plane look up the sum of the four activations that they choose, for 16
// outputs at once ([B5], BiQGEMM, and T-MAC look up such sums too).
#include "bit_plane_product/nibble_product.h"
#include "integer_product/neon_operations.h"
#include "tables.h"

namespace pocketmt::neon_dot_product {
namespace {

constexpr size_t parts = panel_outputs / lanes;
constexpr size_t looked_up_outputs = 16;
constexpr size_t halves = panel_outputs / looked_up_outputs;
constexpr size_t half_parts = parts / halves;

// Sums of bytes of 16 outputs in 16 bits.
struct ByteSums {
    uint16x8_t first = vdupq_n_u16(0);
    uint16x8_t second = vdupq_n_u16(0);

    POCKETMT_INLINE void add(uint8x16_t bytes) {
        first = vaddw_u8(first, vget_low_u8(bytes));
        second = vaddw_high_u8(second, bytes);
    }
    // 4 neighbouring outputs in 32 bits each.
    template <size_t part>
    POCKETMT_INLINE int32x4_t widened() const {
        const uint16x8_t sums = part < 2 ? first : second;
        return vreinterpretq_s32_u32(part % 2 == 0 ? vmovl_u16(vget_low_u16(sums)) : vmovl_high_u16(sums));
    }
};

// The sum of what the four indices of each output find in four tables of 16 bytes.
POCKETMT_INLINE uint8x16_t looked_up(const uint8_t* tables, const uint8x16_t (&indices)[step_nibbles]) {
    uint8x16_t sum = vdupq_n_u8(0);
    unrolled<step_nibbles>([&](auto nibble) POCKETMT_INLINE_LAMBDA {
        const uint8x16_t found = vqtbl1q_u8(vld1q_u8(tables + nibble() * nibble_table_bytes), indices[nibble()]);
        sum = nibble() == 0 ? found : vaddq_u8(sum, found);
    });
    return sum;
}

// See NibbleProduct.
struct Lookups : Registers {
    static void fill_table(const int8_t* codes, uint8_t* table) {
        const uint8x16_t entries = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        uint8x16_t low = vdupq_n_u8(0), high = vdupq_n_u8(high_offset);
        unrolled<nibble_inputs>([&](auto input) POCKETMT_INLINE_LAMBDA {
            const int code = codes[input()];
            const uint8x16_t chosen = vtstq_u8(entries, vdupq_n_u8(1 << input()));
            low = vaddq_u8(low, vandq_u8(chosen, vdupq_n_u8(static_cast<uint8_t>(code & 15))));
            high = vaddq_u8(high, vandq_u8(chosen, vdupq_n_u8(static_cast<uint8_t>(code >> 4))));
        });
        vst1q_u8(table, low);
        vst1q_u8(table + nibble_table_bytes / 2, high);
    }

    template <size_t rows>
    POCKETMT_INLINE static void sum_steps(const uint8_t* plane, size_t steps, const uint8_t* tables, size_t row_bytes,
                                          int32x4_t (&sums)[rows][parts]) {
        ByteSums low[rows][halves], high[rows][halves];
        for (size_t step = 0; step < steps; ++step, plane += plane_step_bytes, tables += step_table_bytes) {
            unrolled<halves>([&](auto half) POCKETMT_INLINE_LAMBDA {
                uint8x16_t indices[step_nibbles];
                unrolled<2>([&](auto byte) POCKETMT_INLINE_LAMBDA {
                    const uint8x16_t bits = vld1q_u8(plane + byte() * panel_outputs + half() * looked_up_outputs);
                    indices[byte() * 2] = vandq_u8(bits, vdupq_n_u8(15));
                    indices[byte() * 2 + 1] = vshrq_n_u8(bits, 4);
                });
                unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                    const uint8_t* own_tables = tables + row() * row_bytes;
                    low[row()][half()].add(looked_up(own_tables, indices));
                    high[row()][half()].add(looked_up(own_tables + nibble_table_bytes / 2, indices));
                });
            });
        }
        const int32x4_t offset = vdupq_n_s32(static_cast<int>(steps * step_nibbles) * high_offset);
        unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
            constexpr size_t row = index() / parts, part = index() % parts;
            constexpr size_t half = part / half_parts, half_part = part % half_parts;
            const int32x4_t high_sum = vsubq_s32(high[row][half].template widened<half_part>(), offset);
            const int32x4_t sum = vmlaq_n_s32(low[row][half].template widened<half_part>(), high_sum, high_factor);
            sums[row][part] = vaddq_s32(sums[row][part], sum);
        });
    }

    template <size_t rows>
    static void sum_rows(const QuantizedActivations& activations, size_t first_row, size_t columns,
                         int32_t (&sums)[rows]) {
        pocketmt::sum_rows(activations, first_row, columns, sums);
    }
};

}  // namespace

const BitPlaneProduct bit_plane_product = {PlanePanels::packed_bytes, PlanePanels::pack, PlanePanels::unpack_row,
                                           PlanePanels::gather, NibbleProduct<Lookups>::multiply};

}  // namespace pocketmt::neon_dot_product
