#include "bit_plane_product/panels.h"

#include <cstring>
#include <stdexcept>
#include <string>

#include "gather.h"
#include "kernels.h"

namespace pocketmt {

namespace {

// Where the sign of `output` and `input` lies in its panel's plane.
size_t place(size_t output, size_t input) {
    return input / plane_byte_inputs * panel_outputs + output;
}
unsigned bit_shift(size_t input) {
    return static_cast<unsigned>(input % plane_byte_inputs);
}

}  // namespace

void require_plane_shape(size_t columns, size_t bits) {
    require_integer_columns(columns);
    if (bits < 1 || bits > largest_plane_bits) {
        throw std::invalid_argument("a binary code of " + std::to_string(bits) + " bits: there must be 1 to " +
                                    std::to_string(largest_plane_bits));
    }
}

size_t PlanePanels::packed_bytes(size_t rows, size_t columns, size_t bits) {
    return plane_panel_parts(rows, columns, bits).alphas + panel_count(rows) * bits * panel_outputs * sizeof(float);
}

void PlanePanels::pack(const uint8_t* planes, const float* alphas, size_t rows, size_t columns, size_t bits,
                       void* packed) {
    require_plane_shape(columns, bits);
    const PlanePanelParts parts = plane_panel_parts(rows, columns, bits);
    uint8_t* bytes = static_cast<uint8_t*>(packed);
    float* packed_alphas = reinterpret_cast<float*>(bytes + parts.alphas);
    std::memset(packed, 0, packed_bytes(rows, columns, bits));
    for (size_t row = 0; row < rows; ++row) {
        for (size_t bit = 0; bit < bits; ++bit) {
            const size_t plane_index = row / panel_outputs * bits + bit;
            const uint8_t* signs = planes + (row * bits + bit) * ceil_divide(columns, 8);
            uint8_t* plane = bytes + plane_index * parts.plane_bytes;
            for (size_t input = 0; input < columns; ++input) {
                const unsigned sign = signs[input / 8] >> (input % 8) & 1u;
                plane[place(row % panel_outputs, input)] |= static_cast<uint8_t>(sign << bit_shift(input));
            }
            packed_alphas[plane_index * panel_outputs + row % panel_outputs] = alphas[row * bits + bit];
        }
    }
}

void PlanePanels::unpack_row(const void* packed, size_t rows, size_t columns, size_t bits, size_t row, float* out) {
    const PlanePanelParts parts = plane_panel_parts(rows, columns, bits);
    const uint8_t* bytes = static_cast<const uint8_t*>(packed);
    const float* alphas = reinterpret_cast<const float*>(bytes + parts.alphas);
    for (size_t bit = 0; bit < bits; ++bit) {
        const size_t plane_index = row / panel_outputs * bits + bit;
        const uint8_t* plane = bytes + plane_index * parts.plane_bytes;
        const float alpha = alphas[plane_index * panel_outputs + row % panel_outputs];
        for (size_t input = 0; input < columns; ++input) {
            const unsigned sign = plane[place(row % panel_outputs, input)] >> bit_shift(input) & 1u;
            const float value = sign != 0 ? alpha : -alpha;
            out[input] = bit == 0 ? value : out[input] + value;
        }
    }
}

// A unit is a byte of a plane.
void PlanePanels::gather(const void* packed, size_t rows, size_t columns, size_t bits, const uint32_t* indices,
                         size_t count, void* gathered) {
    const PlanePanelParts source = plane_panel_parts(rows, columns, bits),
                          target = plane_panel_parts(count, columns, bits);
    const uint8_t* from = static_cast<const uint8_t*>(packed);
    uint8_t* to = static_cast<uint8_t*>(gathered);
    gather_lanes<uint8_t, panel_outputs>(from, 2 * bits * source.steps, indices, count, to);
    gather_lanes<float, panel_outputs>(reinterpret_cast<const float*>(from + source.alphas), bits, indices, count,
                                       reinterpret_cast<float*>(to + target.alphas));
}

}  // namespace pocketmt
