#include "row_lookup_table_product/panels.h"

#include <cstring>

#include "gather.h"
#include "nibbles.h"

namespace pocketmt {

namespace {

// Bytes from one step of an output to the next.
template <size_t lanes>
constexpr size_t step_bytes = part_registers * lanes * lane_bytes;

// Where the table of an output lies, in bytes; its codes follow in steps of step_bytes.
template <size_t lanes>
size_t place(const RowLookupTableParts& parts, size_t output) {
    constexpr size_t outputs = part_registers * lanes;
    const size_t in_part = output % outputs;
    const size_t lane = in_part % part_registers * lanes + in_part / part_registers;
    return output / outputs * (parts.panel_bytes / (panel_outputs / outputs)) + lane * lane_bytes;
}

}  // namespace

template <size_t lanes>
size_t RowLookupTablePanels<lanes>::packed_bytes(const MatrixShape& shape) {
    return row_lookup_table_parts(shape).scales + output_bytes(shape.rows);
}

template <size_t lanes>
void RowLookupTablePanels<lanes>::pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed) {
    const size_t rows = shape.rows, columns = shape.columns;
    require_integer_columns(columns);
    const RowLookupTableParts parts = row_lookup_table_parts(shape);
    uint8_t* bytes = static_cast<uint8_t*>(packed);
    std::memset(packed, 0, packed_bytes(shape));
    float* packed_scales = reinterpret_cast<float*>(bytes + parts.scales);
    int32_t* negative_sums = reinterpret_cast<int32_t*>(packed_scales + panel_count(rows) * panel_outputs);
    for (size_t row = 0; row < rows; ++row) {
        const uint8_t* codes = weights.codes + row * ceil_divide(columns, 2);
        const int8_t* levels = weights.levels + row * table_levels;
        uint8_t* lane = bytes + place<lanes>(parts, row);
        std::memcpy(lane, levels, table_levels);
        const NegativePairSums negative(levels);
        int32_t negative_sum = 0;
        for (size_t input = 0; input < parts.steps * lane_inputs; input += lane_inputs) {
            lane += step_bytes<lanes>;
            for (size_t eight = 0; eight < lane_bytes; eight += 8) {
                const uint32_t low = eight_nibbles(codes, columns, input + eight),
                               high = eight_nibbles(codes, columns, input + lane_bytes + eight);
                const uint64_t placed = spread_eight_nibbles(low) | spread_eight_nibbles(high) << 4;
                std::memcpy(lane + eight, &placed, sizeof placed);
                // Padding has the level of code 0.
                negative_sum += negative.of_eight(low) + negative.of_eight(high);
            }
        }
        negative_sums[row] = negative_sum;
        packed_scales[row] = weights.scales[row];
    }
}

template <size_t lanes>
void RowLookupTablePanels<lanes>::unpack_row(const PackedMatrix& matrix, size_t row, float* out) {
    const RowLookupTableParts parts = row_lookup_table_parts(matrix.shape);
    const uint8_t* bytes = static_cast<const uint8_t*>(matrix.data);
    const uint8_t* lane = bytes + place<lanes>(parts, row);
    const int8_t* levels = reinterpret_cast<const int8_t*>(lane);
    const float scale = reinterpret_cast<const float*>(bytes + parts.scales)[row];
    for (size_t input = 0; input < matrix.shape.columns; ++input) {
        const uint8_t both = lane[(1 + input / lane_inputs) * step_bytes<lanes> + input % lane_bytes];
        out[input] = static_cast<float>(levels[both >> (input / lane_bytes % 2 * 4) & 15u]) * scale;
    }
}

template <size_t lanes>
void RowLookupTablePanels<lanes>::gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count,
                                         void* gathered) {
    const RowLookupTableParts source = row_lookup_table_parts(matrix.shape),
                              target = row_lookup_table_parts({count, matrix.shape.columns});
    const uint8_t* from = static_cast<const uint8_t*>(matrix.data);
    uint8_t* to = static_cast<uint8_t*>(gathered);
    for (size_t output = 0; output < panel_count(count) * panel_outputs; ++output) {
        const uint8_t* lane = from + place<lanes>(source, gathered_row(indices, count, output));
        uint8_t* gathered_lane = to + place<lanes>(target, output);
        for (size_t step = 0; step <= source.steps; ++step)
            std::memcpy(gathered_lane + step * step_bytes<lanes>, lane + step * step_bytes<lanes>, lane_bytes);
    }
    gather_outputs(reinterpret_cast<const float*>(from + source.scales), matrix.shape.rows, indices, count,
                   reinterpret_cast<float*>(to + target.scales));
}

template struct RowLookupTablePanels<1>;
template struct RowLookupTablePanels<2>;
template struct RowLookupTablePanels<4>;

}  // namespace pocketmt
