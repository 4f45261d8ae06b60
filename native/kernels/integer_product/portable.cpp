// 8-bit product for any CPU.
#include "integer_product/portable_tile.h"
#include "tables.h"

namespace pocketmt::portable {
namespace {

void multiply(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations, size_t count,
              const Epilogue& epilogue, float* out, size_t out_stride) {
    const size_t panel_bytes = step_count(columns) * 2 * group_bytes;
    const int8_t* panels = static_cast<const int8_t*>(packed);
    const float* scales = reinterpret_cast<const float*>(panels + panel_count(rows) * panel_bytes);
    const PortableProduct product{scales, rows, columns, activations, epilogue, out, out_stride};
    for (size_t panel = 0; panel < panel_count(rows); ++panel) {
        const int8_t* weights = panels + panel * panel_bytes;
        for_tiles<portable_tile_rows>(count, [&](size_t row, size_t height) {
            multiply_panel(product, panel, row, height, [&](size_t group) { return weights + group * group_bytes; });
        });
    }
}

}  // namespace

const IntegerProduct integer_product = {BytePanels<0>::packed_bytes, BytePanels<0>::pack, BytePanels<0>::unpack_row,
                                        multiply};

}  // namespace pocketmt::portable
