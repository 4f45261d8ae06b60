#include "row_table_product/panels.h"

#include <cstring>

#include "gather.h"

namespace pocketmt {

template <size_t lanes>
size_t RowTablePanels<lanes>::packed_bytes(size_t rows, size_t columns) {
    return row_table_parts(rows, columns).scales + output_bytes(rows);
}

template <size_t lanes>
void RowTablePanels<lanes>::pack(const uint8_t* codes, const float* scales, const int8_t* levels, size_t rows,
                                 size_t columns, void* packed) {
    require_integer_columns(columns);
    const RowTableParts parts = row_table_parts(rows, columns);
    uint8_t* bytes = static_cast<uint8_t*>(packed);
    std::memset(packed, 0, packed_bytes(rows, columns));
    float* packed_scales = reinterpret_cast<float*>(bytes + parts.scales);
    int32_t* negative_sums = reinterpret_cast<int32_t*>(packed_scales + panel_count(rows) * panel_outputs);
    for (size_t row = 0; row < rows; ++row) {
        const uint8_t* row_codes = codes + row * ceil_divide(columns, 2);
        uint8_t* lane = bytes + row_table_place<lanes>(parts, row);
        const int8_t* row_levels = levels + row * row_table_levels;
        std::memcpy(lane, row_levels, row_table_levels);
        for (size_t input = 0; input < parts.steps * lane_inputs; ++input) {
            const unsigned code = input < columns ? row_codes[input / 2] >> (input % 2 * 4) & 15u : 0u;
            const size_t step = 1 + input / lane_inputs;
            lane[step * row_table_step_bytes<lanes> + input % lane_bytes] |=
                static_cast<uint8_t>(code << (input / lane_bytes % 2 * 4));
            negative_sums[row] += negative_part(row_levels[code]);  // of padding, too, which has the level of code 0
        }
        packed_scales[row] = scales[row];
    }
}

template <size_t lanes>
void RowTablePanels<lanes>::unpack_row(const void* packed, size_t rows, size_t columns, size_t row, float* out) {
    const RowTableParts parts = row_table_parts(rows, columns);
    const uint8_t* bytes = static_cast<const uint8_t*>(packed);
    const uint8_t* lane = bytes + row_table_place<lanes>(parts, row);
    const int8_t* levels = reinterpret_cast<const int8_t*>(lane);
    const float scale = reinterpret_cast<const float*>(bytes + parts.scales)[row];
    for (size_t input = 0; input < columns; ++input) {
        const uint8_t both = lane[(1 + input / lane_inputs) * row_table_step_bytes<lanes> + input % lane_bytes];
        out[input] = static_cast<float>(levels[both >> (input / lane_bytes % 2 * 4) & 15u]) * scale;
    }
}

template <size_t lanes>
void RowTablePanels<lanes>::gather(const void* packed, size_t rows, size_t columns, const uint32_t* indices,
                                   size_t count, void* gathered) {
    const RowTableParts source = row_table_parts(rows, columns), target = row_table_parts(count, columns);
    const uint8_t* from = static_cast<const uint8_t*>(packed);
    uint8_t* to = static_cast<uint8_t*>(gathered);
    for (size_t output = 0; output < panel_count(count) * panel_outputs; ++output) {
        const size_t row = gathered_row(indices, count, output);
        const uint8_t* lane = from + row_table_place<lanes>(source, row);
        uint8_t* gathered_lane = to + row_table_place<lanes>(target, output);
        for (size_t step = 0; step <= source.steps; ++step) {
            std::memcpy(gathered_lane + step * row_table_step_bytes<lanes>, lane + step * row_table_step_bytes<lanes>,
                        lane_bytes);
        }
    }
    gather_outputs(reinterpret_cast<const float*>(from + source.scales), rows, indices, count,
                   reinterpret_cast<float*>(to + target.scales));
}

template struct RowTablePanels<1>;
template struct RowTablePanels<2>;
template struct RowTablePanels<4>;

}  // namespace pocketmt
