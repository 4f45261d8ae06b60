// Product of 4-bit codes with a table of levels for each row, for any CPU: each group of codes is decoded, then
// multiplied as 8-bit weights.
#include "integer_product/portable_tile.h"
#include "row_table_product/panels.h"
#include "tables.h"

namespace pocketmt::portable {
namespace {

void multiply(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations, size_t count,
              const Epilogue& epilogue, const Outputs& outputs) {
    const RowTableParts parts = row_table_parts(rows, columns);
    const uint8_t* bytes = static_cast<const uint8_t*>(packed);
    const float* scales = reinterpret_cast<const float*>(bytes + parts.scales);
    const PortableProduct product{scales, rows, columns, activations, epilogue, outputs};
    for (size_t panel = first_panel(outputs); panel < last_panel(outputs, rows); ++panel) {
        int8_t weights[group_bytes];
        const auto decode = [&](size_t group) {
            const size_t input = group * group_inputs, step = 1 + input / lane_inputs;
            for (size_t i = 0; i < group_bytes; ++i) {
                const size_t output = panel * panel_outputs + i / group_inputs;
                const uint8_t* lane = bytes + row_table_place<1>(parts, output);
                const uint8_t both = lane[step * row_table_step_bytes<1> + input % lane_bytes + i % group_inputs];
                weights[i] = static_cast<int8_t>(lane[both >> (input / lane_bytes % 2 * 4) & 15]);
            }
            return static_cast<const int8_t*>(weights);
        };
        for_tiles<portable_tile_rows>(
            count, [&](size_t row, size_t height) { multiply_panel(product, panel, row, height, decode); });
    }
}

}  // namespace

const LevelTableProduct row_table_product = {RowTablePanels<1>::packed_bytes, RowTablePanels<1>::pack,
                                             RowTablePanels<1>::unpack_row, RowTablePanels<1>::gather, multiply};

}  // namespace pocketmt::portable
