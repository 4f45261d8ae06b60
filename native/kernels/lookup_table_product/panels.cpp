#include "lookup_table_product/panels.h"

#include <cstring>

#include "gather.h"
#include "nibbles.h"

namespace pocketmt {

namespace {

// The byte of a panel that holds `input` of `output`, and how far its nibble is shifted.
size_t place(size_t output, size_t input) {
    return input / step_inputs * group_bytes + output * group_inputs + input % group_inputs;
}
unsigned nibble_shift(size_t input) {
    return input % step_inputs < group_inputs ? 0 : 4;
}

}  // namespace

size_t LookupTablePanels::packed_bytes(const MatrixShape& shape) {
    return lookup_table_parts(shape).scales + output_bytes(shape.rows);
}

void LookupTablePanels::pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed) {
    const size_t rows = shape.rows, columns = shape.columns;
    require_integer_columns(columns);
    const LookupTableParts parts = lookup_table_parts(shape);
    uint8_t* bytes = static_cast<uint8_t*>(packed);
    for (size_t copy = 0; copy < level_bytes; copy += 16) std::memcpy(bytes + copy, weights.levels, 16);
    std::memset(bytes + parts.codes, 0, parts.scales - parts.codes + output_bytes(rows));
    float* packed_scales = reinterpret_cast<float*>(bytes + parts.scales);
    int32_t* negative_sums = reinterpret_cast<int32_t*>(packed_scales + panel_count(rows) * panel_outputs);
    const NegativePairSums negative(weights.levels);
    for (size_t row = 0; row < rows; ++row) {
        const uint8_t* codes = weights.codes + row * ceil_divide(columns, 2);
        uint8_t* step = bytes + parts.codes + row / panel_outputs * parts.panel_bytes + place(row % panel_outputs, 0);
        int32_t negative_sum = 0;
        for (size_t input = 0; input < columns; input += step_inputs, step += group_bytes) {
            const uint32_t eight = eight_nibbles(codes, columns, input);  // Padding has the level of code 0.
            const uint32_t placed = spread_nibbles(eight & 0xffffu) | spread_nibbles(eight >> 16) << 4;
            std::memcpy(step, &placed, sizeof placed);
            negative_sum += negative.of_eight(eight);
        }
        negative_sums[row] = negative_sum;
        packed_scales[row] = weights.scales[row];
    }
}

void LookupTablePanels::unpack_row(const PackedMatrix& matrix, size_t row, float* out) {
    const LookupTableParts parts = lookup_table_parts(matrix.shape);
    const uint8_t* bytes = static_cast<const uint8_t*>(matrix.data);
    const int8_t* levels = reinterpret_cast<const int8_t*>(bytes);
    const uint8_t* panel = bytes + parts.codes + row / panel_outputs * parts.panel_bytes;
    const float scale = reinterpret_cast<const float*>(bytes + parts.scales)[row];
    for (size_t input = 0; input < matrix.shape.columns; ++input) {
        const unsigned code = (panel[place(row % panel_outputs, input)] >> nibble_shift(input)) & 15u;
        out[input] = static_cast<float>(levels[code]) * scale;
    }
}

// A unit is the four bytes of an output in a step.
void LookupTablePanels::gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered) {
    const LookupTableParts source = lookup_table_parts(matrix.shape),
                           target = lookup_table_parts({count, matrix.shape.columns});
    const uint8_t* from = static_cast<const uint8_t*>(matrix.data);
    uint8_t* to = static_cast<uint8_t*>(gathered);
    std::memcpy(to, from, level_bytes);
    gather_lanes<uint32_t, panel_outputs>(reinterpret_cast<const uint32_t*>(from + source.codes),
                                          step_count(matrix.shape.columns), indices, count,
                                          reinterpret_cast<uint32_t*>(to + target.codes));
    gather_outputs(reinterpret_cast<const float*>(from + source.scales), matrix.shape.rows, indices, count,
                   reinterpret_cast<float*>(to + target.scales));
}

}  // namespace pocketmt
