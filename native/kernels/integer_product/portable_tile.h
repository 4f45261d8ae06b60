// One panel of integer weights times every row of activations, in plain loops.
#pragma once

#include "integer_product/panels.h"
#include "kernels.h"

namespace pocketmt {
namespace {

constexpr size_t portable_tile_rows = 8;

struct PortableProduct {
    const float* scales;  // of the weights
    size_t rows;
    size_t columns;
    QuantizedActivations activations;
    Epilogue epilogue;
    Outputs outputs;

    int32_t sum_codes(size_t row) const {
        const int8_t* codes = activations.codes + row * activations.stride;
        int32_t sum = 0;
        for (size_t column = 0; column < columns; ++column) sum += codes[column];
        return sum;
    }

    void finish(const int32_t* sums, size_t row, size_t first_output) const {
        const float activation_scale = activations.scales[row];
        const float activation_sum = epilogue.offsets ? static_cast<float>(sum_codes(row)) : 0.0f;
        for (size_t lane = 0; lane < smaller(panel_outputs, rows - first_output); ++lane) {
            const size_t output = first_output + lane;
            float value = static_cast<float>(sums[lane]) * (activation_scale * scales[output]);
            if (epilogue.offsets) value += activation_sum * (activation_scale * epilogue.offsets[output]);
            if (epilogue.bias) value += epilogue.bias[output];
            if (epilogue.relu) value = value > 0.0f ? value : 0.0f;
            outputs.values[row * outputs.stride + output - outputs.first] = value;
        }
    }
};

// group(index) gives the 32 x 4 weights of a group of inputs; it is called once for `height` rows.
template <class Group>
void multiply_panel(const PortableProduct& product, size_t panel, size_t first_row, size_t height, Group&& group) {
    int32_t sums[portable_tile_rows][panel_outputs] = {};
    const QuantizedActivations& activations = product.activations;
    for (size_t index = 0; index * group_inputs < product.columns; ++index) {
        const int8_t* weights = group(index);
        for (size_t row = 0; row < height; ++row) {
            const int8_t* codes = activations.codes + (first_row + row) * activations.stride + index * group_inputs;
            for (size_t output = 0; output < panel_outputs; ++output) {
                const int8_t* weight = weights + output * group_inputs;
                sums[row][output] +=
                    codes[0] * weight[0] + codes[1] * weight[1] + codes[2] * weight[2] + codes[3] * weight[3];
            }
        }
    }
    for (size_t row = 0; row < height; ++row) product.finish(sums[row], first_row + row, panel * panel_outputs);
}

}  // namespace
}  // namespace pocketmt
