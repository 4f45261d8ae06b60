// What the register tiles of integer products share: the arguments of a product, and the order in which tiles walk over
// it.
#pragma once

#include "integer_product/panels.h"
#include "kernels.h"

namespace pocketmt {
namespace {

struct IntegerCall {
    size_t rows;            // outputs
    size_t steps;           // of 8 inputs
    size_t panel_bytes;     // from one panel to the next
    const uint8_t* levels;  // [64] of a level table; null for 8-bit weights
    const float* weight_scales;
    QuantizedActivations activations;
    const int32_t* activation_sums;  // [count]: of the codes of each row of activations, where the tiles need them
    Epilogue epilogue;
    Outputs outputs;
};

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
inline void multiply_panels(const IntegerCall& call, const uint8_t* weights, size_t count,
                            const TileFunction (&tiles)[highest]) {
    const size_t first = first_panel(call.outputs), last = last_panel(call.outputs, call.rows);
    weights += first * call.panel_bytes;
    if (count <= highest) return tiles[count - 1](call, {weights, 0, first, last});
    for (size_t panel = first; panel < last; ++panel, weights += call.panel_bytes) {
        for_tiles<highest>(
            count, [&](size_t row, size_t height) { tiles[height - 1](call, {weights, row, panel, panel + 1}); });
    }
}

}  // namespace
}  // namespace pocketmt
