// 8-bit and 6-bit products for any CPU.
#include "integer_product/portable_tile.h"
#include "integer_product/six_bit_panels.h"
#include "tables.h"

namespace pocketmt::portable {
namespace {

void multiply(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations, size_t count,
              const Epilogue& epilogue, const Outputs& outputs) {
    const size_t panel_bytes = step_count(columns) * 2 * group_bytes;
    const int8_t* panels = static_cast<const int8_t*>(packed);
    const float* scales = reinterpret_cast<const float*>(panels + panel_count(rows) * panel_bytes);
    const PortableProduct product{scales, rows, columns, activations, epilogue, outputs};
    for (size_t panel = first_panel(outputs); panel < last_panel(outputs, rows); ++panel) {
        const int8_t* weights = panels + panel * panel_bytes;
        for_tiles<portable_tile_rows>(count, [&](size_t row, size_t height) {
            multiply_panel(product, panel, row, height, [&](size_t group) { return weights + group * group_bytes; });
        });
    }
}

// Each group of codes is decoded, then multiplied as 8-bit weights.
void multiply_six_bit(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations,
                      size_t count, const Epilogue& epilogue, const Outputs& outputs) {
    const size_t panel_bytes = six_bit_panel_bytes(columns);
    const uint8_t* panels = static_cast<const uint8_t*>(packed);
    const float* scales = reinterpret_cast<const float*>(panels + panel_count(rows) * panel_bytes);
    const PortableProduct product{scales, rows, columns, activations, epilogue, outputs};
    for (size_t panel = first_panel(outputs); panel < last_panel(outputs, rows); ++panel) {
        int8_t weights[group_bytes];
        const auto decode = [&](size_t group) {
            const uint8_t* low = panels + panel * panel_bytes + group / 2 * six_bit_step_bytes;
            const uint8_t* high = low + six_bit_low_bytes;
            for (size_t i = 0; i < group_bytes; ++i) {
                const size_t byte = group % 2 * group_bytes + i;
                const int code = (low[i] >> (group % 2 * 4) & 15) |
                                 (high[i % six_bit_high_bytes] >> (byte / six_bit_high_bytes * 2) & 3) << 4;
                weights[i] = static_cast<int8_t>(code - six_bit_zero);
            }
            return static_cast<const int8_t*>(weights);
        };
        for_tiles<portable_tile_rows>(
            count, [&](size_t row, size_t height) { multiply_panel(product, panel, row, height, decode); });
    }
}

}  // namespace

const IntegerProduct integer_product = {BytePanels<0>::packed_bytes, BytePanels<0>::pack, BytePanels<0>::unpack_row,
                                        BytePanels<0>::gather, multiply};
const IntegerProduct six_bit_product = {SixBitPanels::packed_bytes, SixBitPanels::pack, SixBitPanels::unpack_row,
                                        SixBitPanels::gather, multiply_six_bit};

}  // namespace pocketmt::portable
