// Bit plane product with NEON: four bits of a plane look up the sum of the four activations that they choose, for 16
// outputs at once ([B5], BiQGEMM, and T-MAC look up such sums too).
#include "bit_plane_product/nibble_tables.h"
#include "integer_product/neon_operations.h"
#include "tables.h"

namespace pocketmt::neon_dot_product {
namespace {

constexpr size_t parts = panel_outputs / lanes;
constexpr size_t looked_up_outputs = 16;
constexpr size_t halves = panel_outputs / looked_up_outputs;
constexpr size_t half_parts = parts / halves;
constexpr size_t tile_rows = 2;  // 16 sums of bytes, and room for indices and tables among 32 registers
// So many steps have sums of at most 256 * 240, which 16 bits hold.
constexpr size_t exact_steps = 256;

// See NibbleTables.
inline void fill_table(const int8_t* codes, uint8_t* table) {
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

// sums += those of `steps` steps, at most exact_steps; tables: of the first of `rows` rows, `row_bytes` apart.
template <size_t rows>
POCKETMT_INLINE void sum_steps(const uint8_t* plane, size_t steps, const uint8_t* tables, size_t row_bytes,
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
POCKETMT_INLINE void sum_plane(const PlaneCall& call, const uint8_t* plane, size_t first_row,
                               int32x4_t (&sums)[rows][parts]) {
    const size_t row_bytes = call.parts.steps * step_table_bytes;
    const uint8_t* tables = call.tables + first_row * row_bytes;
    for (size_t step = 0; step < call.parts.steps; step += exact_steps) {
        sum_steps(plane + step * plane_step_bytes, smaller(exact_steps, call.parts.steps - step),
                  tables + step * step_table_bytes, row_bytes, sums);
    }
}

template <size_t rows>
void multiply_tile(const PlaneCall& call, const PlaneRange& range) {
    int32_t activation_sums[rows];
    sum_rows(call.activations, range.first_row, call.parts.steps * plane_step_inputs, activation_sums);
    for (size_t panel = range.first_panel; panel < range.last_panel; ++panel) {
        float32x4_t values[rows][parts] = {};
        for (size_t bit = 0; bit < call.bits; ++bit) {
            const float* alphas = call.plane_alphas(panel, bit);
            int32x4_t sums[rows][parts] = {};
            sum_plane(call, call.plane(panel, bit), range.first_row, sums);
            unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {  // as reference::bit_plane_product
                constexpr size_t row = index() / parts, part = index() % parts;
                const int32x4_t all = vdupq_n_s32(activation_sums[row]);
                const int32x4_t sum = vsubq_s32(vshlq_n_s32(sums[row][part], 1), all);
                const float32x4_t activation_scale = vdupq_n_f32(call.activations.scales[range.first_row + row]);
                const float32x4_t scale = vmulq_f32(activation_scale, vld1q_f32(alphas + part * lanes));
                const float32x4_t term = vmulq_f32(vcvtq_f32_s32(sum), scale);
                values[row][part] = bit == 0 ? term : vaddq_f32(values[row][part], term);
            });
        }
        unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
            constexpr size_t row = index() / parts, part = index() % parts;
            const size_t output = panel * panel_outputs + part * lanes;
            if (output >= call.rows) return;
            const size_t valid = call.rows - output;
            const float32x4_t activation_scale = vdupq_n_f32(call.activations.scales[range.first_row + row]);
            const float32x4_t value =
                add_offsets(call.epilogue, output, valid, activation_sums[row], activation_scale, values[row][part]);
            store_outputs(call.epilogue, output, valid, value,
                          call.outputs.values + (range.first_row + row) * call.outputs.stride + output);
        });
    }
}

constexpr PlaneTile tiles[] = {multiply_tile<1>, multiply_tile<tile_rows>};

void multiply(const void* packed, size_t rows, size_t columns, size_t bits, const QuantizedActivations& activations,
              size_t count, const Epilogue& epilogue, const Outputs& outputs) {
    const PlaneCall call = plane_call(packed, rows, columns, bits, activations, epilogue, outputs);
    multiply_by_tables<fill_table>(call, count, tiles);
}

}  // namespace

const BitPlaneProduct bit_plane_product = {PlanePanels::packed_bytes, PlanePanels::pack, PlanePanels::unpack_row,
                                           PlanePanels::gather, multiply};

}  // namespace pocketmt::neon_dot_product
