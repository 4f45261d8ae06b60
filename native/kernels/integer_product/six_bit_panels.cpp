#include "integer_product/six_bit_panels.h"

#include <cstring>

#include "gather.h"

namespace pocketmt {

namespace {

// Where a code lies in its step: `byte`, from 0 to 255, is its place in the 8-bit layout.
struct Place {
    size_t low;
    unsigned low_shift;
    size_t high;
    unsigned high_shift;
};

Place place(size_t byte) {
    return {byte % six_bit_low_bytes, byte < six_bit_low_bytes ? 0u : 4u, six_bit_low_bytes + byte % six_bit_high_bytes,
            static_cast<unsigned>(byte / six_bit_high_bytes * 2)};
}

size_t byte_of(size_t output, size_t input) {
    return input % step_inputs / group_inputs * group_bytes + output * group_inputs + input % group_inputs;
}

size_t weight_bytes(size_t rows, size_t columns) {
    return panel_count(rows) * six_bit_panel_bytes(columns);
}

}  // namespace

size_t SixBitPanels::packed_bytes(const MatrixShape& shape) {
    return weight_bytes(shape.rows, shape.columns) + panel_count(shape.rows) * panel_outputs * sizeof(float);
}

void SixBitPanels::pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed) {
    const size_t rows = shape.rows, columns = shape.columns;
    require_integer_columns(columns);
    uint8_t* panel = static_cast<uint8_t*>(packed);
    float* packed_scales = reinterpret_cast<float*>(panel + weight_bytes(rows, columns));
    std::memset(packed, 0, weight_bytes(rows, columns));
    const size_t padded_columns = step_count(columns) * step_inputs;
    for (size_t first = 0; first < rows; first += panel_outputs, panel += six_bit_panel_bytes(columns)) {
        for (size_t output = 0; output < panel_outputs; ++output) {
            const size_t row = first + output;
            const size_t given = row < rows ? columns : 0;
            for (size_t input = 0; input < padded_columns; ++input) {
                const int weight = input < given ? weights.integers[row * columns + input] : 0;
                const unsigned code = static_cast<unsigned>(weight + six_bit_zero);
                const Place at = place(byte_of(output, input));
                uint8_t* step = panel + input / step_inputs * six_bit_step_bytes;
                step[at.low] |= static_cast<uint8_t>((code & 15u) << at.low_shift);
                step[at.high] |= static_cast<uint8_t>((code >> 4 & 3u) << at.high_shift);
            }
            packed_scales[row] = row < rows ? weights.scales[row] : 0.0f;
        }
    }
}

void SixBitPanels::unpack_row(const PackedMatrix& matrix, size_t row, float* out) {
    const size_t columns = matrix.shape.columns;
    const uint8_t* bytes = static_cast<const uint8_t*>(matrix.data);
    const float scale = reinterpret_cast<const float*>(bytes + weight_bytes(matrix.shape.rows, columns))[row];
    const uint8_t* panel = bytes + row / panel_outputs * six_bit_panel_bytes(columns);
    for (size_t input = 0; input < columns; ++input) {
        const Place at = place(byte_of(row % panel_outputs, input));
        const uint8_t* step = panel + input / step_inputs * six_bit_step_bytes;
        const int code = (step[at.low] >> at.low_shift & 15) | (step[at.high] >> at.high_shift & 3) << 4;
        out[input] = static_cast<float>(code - six_bit_zero) * scale;
    }
}

// Outputs 16 apart share their bytes of high bits. Of the four codes in such a byte, those at even places belong to the
// lower output.
void SixBitPanels::gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered) {
    constexpr size_t half = panel_outputs / 2, step_units = six_bit_step_bytes / sizeof(uint32_t);
    constexpr uint32_t even_codes = 0x33333333;
    const uint32_t* from = static_cast<const uint32_t*>(matrix.data);
    uint32_t* to = static_cast<uint32_t*>(gathered);
    const size_t steps = step_count(matrix.shape.columns);
    for (size_t first = 0; first < count; first += panel_outputs) {
        const uint32_t *low[panel_outputs], *high[panel_outputs];
        unsigned shift[panel_outputs];
        for (size_t lane = 0; lane < panel_outputs; ++lane) {
            const size_t row = gathered_row(indices, count, first + lane), output = row % panel_outputs;
            const uint32_t* panel = from + row / panel_outputs * steps * step_units;
            low[lane] = panel + output;
            high[lane] = panel + panel_outputs + output % half;
            shift[lane] = output < half ? 0 : 2;
        }
        for (size_t step = 0; step < steps; ++step, to += step_units) {
            const auto high_bits = [&](size_t lane) {
                return high[lane][step * step_units] >> shift[lane] & even_codes;
            };
            for (size_t lane = 0; lane < panel_outputs; ++lane) to[lane] = low[lane][step * step_units];
            for (size_t lane = 0; lane < half; ++lane)
                to[panel_outputs + lane] = high_bits(lane) | high_bits(lane + half) << 2;
        }
    }
    const uint8_t* scales =
        static_cast<const uint8_t*>(matrix.data) + weight_bytes(matrix.shape.rows, matrix.shape.columns);
    gather_lanes<float, panel_outputs>(reinterpret_cast<const float*>(scales), 1, indices, count,
                                       reinterpret_cast<float*>(to));
}

}  // namespace pocketmt
