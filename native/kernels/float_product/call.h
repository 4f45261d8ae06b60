// What the register tiles of fp32 products share: the arguments of a product, and the order in which tiles walk over
// it. Every output is one sum over the inputs in their order, so it is the same whatever the number of rows.
#pragma once

#include "float_product/panels.h"
#include "kernels.h"
#include "shapes.h"

namespace pocketmt {
namespace {

struct FloatCall {
    size_t rows;  // outputs
    size_t columns;
    const float* activations;
    size_t activation_stride;
    Epilogue epilogue;
    Outputs outputs;
};

// The outputs that a tile function computes, a multiple of the panel's width apart; `weights` is the first panel.
struct FloatTileRange {
    const float* weights;
    size_t first_row;
    size_t first_output;
    size_t last_output;  // one beyond
};

using FloatTileFunction = void (*)(const FloatCall&, const FloatTileRange&);

// Tile functions for 1, 2, ... rows.
template <template <size_t> class Tile, class Index>
struct FloatTileTable;
template <template <size_t> class Tile, size_t... index>
struct FloatTileTable<Tile, std::index_sequence<index...>> {
    static constexpr FloatTileFunction functions[] = {Tile<index + 1>::multiply...};
};

// One tile of rows: all panels in one go. More: a panel at a time for a block of rows that stays in the second-level
// cache.
template <size_t width, size_t highest, template <size_t> class Tile>
inline void multiply_panels(FloatCall call, const float* packed, size_t count) {
    constexpr auto& tiles = FloatTileTable<Tile, std::make_index_sequence<highest>>::functions;
    constexpr size_t block_rows = 10 * highest;
    const size_t first_output = call.outputs.first, last_output = smaller(call.outputs.last, call.rows);
    packed += first_output * call.columns;
    if (count <= highest) return tiles[count - 1](call, {packed, 0, first_output, last_output});
    for (size_t row = 0; row < count; row += block_rows) {
        const float* panel = packed;
        for (size_t output = first_output; output < last_output; output += width, panel += width * call.columns) {
            for_tiles<highest>(smaller(block_rows, count - row), [&](size_t first, size_t height) {
                tiles[height - 1](call, {panel, row + first, output, smaller(output + width, last_output)});
            });
        }
    }
}

}  // namespace
}  // namespace pocketmt
