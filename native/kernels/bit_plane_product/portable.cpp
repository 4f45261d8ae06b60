// Bit plane product for any CPU: a mask of the bit that is asked for, then a sum.
#include "bit_plane_product/panels.h"
#include "kernels.h"
#include "tables.h"

namespace pocketmt::portable {
namespace {

struct PlaneProduct {
    const uint8_t* planes;
    const float* alphas;
    PlanePanelParts parts;
    size_t rows;
    size_t columns;
    size_t bits;
    QuantizedActivations activations;
    Epilogue epilogue;
    Outputs outputs;
};

int32_t sum_codes(const int8_t* codes, size_t columns) {
    int32_t sum = 0;
    for (size_t column = 0; column < columns; ++column) sum += codes[column];
    return sum;
}

// sums [32]: of the activations whose bit is set.
void sum_plane(const uint8_t* plane, size_t steps, const int8_t* codes, int32_t* sums) {
    for (size_t output = 0; output < panel_outputs; ++output) sums[output] = 0;
    for (size_t byte = 0; byte < steps * 2; ++byte, plane += panel_outputs, codes += plane_byte_inputs) {
        for (size_t output = 0; output < panel_outputs; ++output) {
            for (size_t bit = 0; bit < plane_byte_inputs; ++bit)
                sums[output] += (plane[output] >> bit & 1) * codes[bit];
        }
    }
}

// The operations of reference::bit_plane_product for one row of activations and one panel.
void multiply_panel(const PlaneProduct& product, size_t panel, size_t row) {
    const int8_t* codes = product.activations.codes + row * product.activations.stride;
    const float scale = product.activations.scales[row];
    const int32_t sum = sum_codes(codes, product.columns);
    float values[panel_outputs];
    for (size_t bit = 0; bit < product.bits; ++bit) {
        const size_t plane_index = panel * product.bits + bit;
        const float* alphas = product.alphas + plane_index * panel_outputs;
        int32_t sums[panel_outputs];
        sum_plane(product.planes + plane_index * product.parts.plane_bytes, product.parts.steps, codes, sums);
        for (size_t output = 0; output < panel_outputs; ++output) {
            const float term = static_cast<float>(2 * sums[output] - sum) * (scale * alphas[output]);
            values[output] = bit == 0 ? term : values[output] + term;
        }
    }
    const size_t first_output = panel * panel_outputs;
    for (size_t lane = 0; lane < smaller(panel_outputs, product.rows - first_output); ++lane) {
        float value = values[lane];
        if (product.epilogue.offsets)
            value += static_cast<float>(sum) * (scale * product.epilogue.offsets[first_output + lane]);
        if (product.epilogue.bias) value += product.epilogue.bias[first_output + lane];
        if (product.epilogue.relu) value = value > 0.0f ? value : 0.0f;
        product.outputs.values[row * product.outputs.stride + first_output - product.outputs.first + lane] = value;
    }
}

void multiply(const void* packed, size_t rows, size_t columns, size_t bits, const QuantizedActivations& activations,
              size_t count, const Epilogue& epilogue, const Outputs& outputs) {
    const PlanePanelParts parts = plane_panel_parts(rows, columns, bits);
    const uint8_t* planes = static_cast<const uint8_t*>(packed);
    const float* alphas = reinterpret_cast<const float*>(planes + parts.alphas);
    const PlaneProduct product{planes, alphas, parts, rows, columns, bits, activations, epilogue, outputs};
    for (size_t panel = first_panel(outputs); panel < last_panel(outputs, rows); ++panel) {
        for (size_t row = 0; row < count; ++row) multiply_panel(product, panel, row);
    }
}

}  // namespace

const BitPlaneProduct bit_plane_product = {PlanePanels::packed_bytes, PlanePanels::pack, PlanePanels::unpack_row,
                                           PlanePanels::gather, multiply};

}  // namespace pocketmt::portable
