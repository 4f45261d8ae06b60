// 4-bit level table product for any CPU: each group of codes is decoded, then multiplied as 8-bit weights.
#include "integer_product/portable_tile.h"
#include "level_table_product/panels.h"
#include "tables.h"

namespace pocketmt::portable {
namespace {

void multiply(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations, size_t count,
              const Epilogue& epilogue, const Outputs& outputs) {
    const LevelPanelParts parts = level_panel_parts(rows, columns);
    const uint8_t* bytes = static_cast<const uint8_t*>(packed);
    const int8_t* levels = reinterpret_cast<const int8_t*>(bytes);
    const float* scales = reinterpret_cast<const float*>(bytes + parts.scales);
    const PortableProduct product{scales, rows, columns, activations, epilogue, outputs};
    for (size_t panel = first_panel(outputs); panel < last_panel(outputs, rows); ++panel) {
        const uint8_t* codes = bytes + parts.codes + panel * parts.panel_bytes;
        int8_t weights[group_bytes];
        const auto decode = [&](size_t group) {
            const uint8_t* step = codes + group / 2 * group_bytes;
            for (size_t i = 0; i < group_bytes; ++i) weights[i] = levels[(step[i] >> (group % 2 * 4)) & 15];
            return static_cast<const int8_t*>(weights);
        };
        for_tiles<portable_tile_rows>(
            count, [&](size_t row, size_t height) { multiply_panel(product, panel, row, height, decode); });
    }
}

}  // namespace

const LevelTableProduct level_table_product = {LevelPanels::packed_bytes, LevelPanels::pack, LevelPanels::unpack_row,
                                               LevelPanels::gather, multiply};

}  // namespace pocketmt::portable
