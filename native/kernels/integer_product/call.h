// What the register tiles of integer products share: the arguments of a product, and the order in which tiles walk over
// it.
#pragma once

#include "integer_product/panels.h"
#include "kernels.h"
#include "product_store.h"

namespace pocketmt {
namespace {

struct IntegerCall {
    const uint8_t* weights;  // [panels][steps] as the family packs them
    size_t rows;             // outputs
    size_t steps;            // of 8 inputs
    size_t panel_bytes;      // from one panel to the next
    const uint8_t* levels;   // [64] of a level table; null for 8-bit weights
    const float* weight_scales;
    const int32_t* negative_sums;  // [panels * 32], of signed weights
    QuantizedActivations activations;
    const int32_t* activation_sums;  // [count]: of the codes of each row of activations, where the tiles need them
    Epilogue epilogue;
    Outputs outputs;
};

// The call of a product whose scales lie behind its packed weights.
inline IntegerCall integer_call(const uint8_t* weights, size_t step_bytes, const uint8_t* levels, size_t rows,
                                size_t columns, const QuantizedActivations& activations, const Epilogue& epilogue,
                                const Outputs& outputs) {
    const size_t steps = step_count(columns), panel_bytes = steps * step_bytes;
    const float* scales = reinterpret_cast<const float*>(weights + panel_count(rows) * panel_bytes);
    const int32_t* negative_sums = reinterpret_cast<const int32_t*>(scales + panel_count(rows) * panel_outputs);
    return {weights, rows, steps, panel_bytes, levels, scales, negative_sums, activations, nullptr, epilogue, outputs};
}

// Sums [lanes] of a row of activations and the outputs from `output` on -> floats: the operations of
// reference::integer_product. activation_sum: of the row's codes, where there are offsets.
template <class Registers>
POCKETMT_INLINE void store_sums(const IntegerCall& call, size_t row, int32_t activation_sum, size_t output,
                                typename Registers::Integers sums) {
    const float activation_scale = call.activations.scales[row];
    const auto scale = Registers::broadcast(activation_scale) * Registers::load(call.weight_scales + output);
    store_quantized<Registers>(call.epilogue, call.outputs, call.rows, row, output, activation_sum, activation_scale,
                               Registers::to_floats(sums) * scale);
}

// The rows and panels that a tile function multiplies; `weights` is the first panel's.
struct TileRange {
    const uint8_t* weights;
    size_t first_row;
    size_t first_panel;
    size_t last_panel;  // one beyond
};

using TileFunction = void (*)(const IntegerCall&, const TileRange&);

// One tile of rows: all panels in one go. More: a panel at a time for all rows, so that it is read from memory once.
template <size_t highest>
inline void multiply_panels(const IntegerCall& call, size_t count, const TileFunction (&tiles)[highest]) {
    const size_t first = first_panel(call.outputs), last = last_panel(call.outputs, call.rows);
    const uint8_t* weights = call.weights + first * call.panel_bytes;
    if (count <= highest) return tiles[count - 1](call, {weights, 0, first, last});
    for (size_t panel = first; panel < last; ++panel, weights += call.panel_bytes) {
        for_tiles<highest>(
            count, [&](size_t row, size_t height) { tiles[height - 1](call, {weights, row, panel, panel + 1}); });
    }
}

}  // namespace
}  // namespace pocketmt
