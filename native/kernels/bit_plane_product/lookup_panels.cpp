#include "bit_plane_product/lookup_panels.h"

#include <cstring>

#include "bit_plane_product/panels.h"
#include "gather.h"

namespace pocketmt {

namespace {

// Where the word of `output`, `bit` and `input` lies in its panel.
size_t place(size_t bits, size_t output, size_t bit, size_t input) {
    return (input / word_inputs * bits + bit) * panel_outputs + output;
}

}  // namespace

size_t LookupPanels::packed_bytes(size_t rows, size_t columns, size_t bits) {
    return lookup_panel_parts(rows, columns, bits).alphas + panel_count(rows) * bits * panel_outputs * sizeof(float);
}

void LookupPanels::pack(const uint8_t* planes, const float* alphas, size_t rows, size_t columns, size_t bits,
                        void* packed) {
    require_plane_shape(columns, bits);
    const LookupPanelParts parts = lookup_panel_parts(rows, columns, bits);
    std::memset(packed, 0, packed_bytes(rows, columns, bits));
    uint16_t* words = static_cast<uint16_t*>(packed);
    float* packed_alphas = reinterpret_cast<float*>(static_cast<uint8_t*>(packed) + parts.alphas);
    for (size_t row = 0; row < rows; ++row) {
        const size_t panel = row / panel_outputs, output = row % panel_outputs;
        for (size_t bit = 0; bit < bits; ++bit) {
            const uint8_t* signs = planes + (row * bits + bit) * ceil_divide(columns, 8);
            for (size_t input = 0; input < columns; ++input) {
                const unsigned sign = signs[input / 8] >> (input % 8) & 1u;
                words[panel * parts.panel_words + place(bits, output, bit, input)] |=
                    static_cast<uint16_t>(sign << (input % word_inputs));
            }
            packed_alphas[(panel * bits + bit) * panel_outputs + output] = alphas[row * bits + bit];
        }
    }
}

void LookupPanels::unpack_row(const void* packed, size_t rows, size_t columns, size_t bits, size_t row, float* out) {
    const LookupPanelParts parts = lookup_panel_parts(rows, columns, bits);
    const size_t panel = row / panel_outputs, output = row % panel_outputs;
    const uint16_t* words = static_cast<const uint16_t*>(packed) + panel * parts.panel_words;
    const float* alphas = reinterpret_cast<const float*>(static_cast<const uint8_t*>(packed) + parts.alphas);
    for (size_t bit = 0; bit < bits; ++bit) {
        const float alpha = alphas[(panel * bits + bit) * panel_outputs + output];
        for (size_t input = 0; input < columns; ++input) {
            const unsigned sign = words[place(bits, output, bit, input)] >> (input % word_inputs) & 1u;
            const float value = sign != 0 ? alpha : -alpha;
            out[input] = bit == 0 ? value : out[input] + value;
        }
    }
}

// A unit is a word.
void LookupPanels::gather(const void* packed, size_t rows, size_t columns, size_t bits, const uint32_t* indices,
                          size_t count, void* gathered) {
    const LookupPanelParts source = lookup_panel_parts(rows, columns, bits),
                           target = lookup_panel_parts(count, columns, bits);
    const uint8_t* from = static_cast<const uint8_t*>(packed);
    uint8_t* to = static_cast<uint8_t*>(gathered);
    gather_lanes<uint16_t, panel_outputs>(reinterpret_cast<const uint16_t*>(from), bits * source.words, indices, count,
                                          reinterpret_cast<uint16_t*>(to));
    gather_lanes<float, panel_outputs>(reinterpret_cast<const float*>(from + source.alphas), bits, indices, count,
                                       reinterpret_cast<float*>(to + target.alphas));
}

}  // namespace pocketmt
