// The arguments of an fp32 product, and the order in which tiles compute it. Every output is one sum over the inputs in
// their order, so that it is the same whatever the number of rows is.
#pragma once

#include "product.h"
#include "shapes.h"

namespace pocketmt {
namespace {

struct FloatCall {
    size_t rows;  // Number of outputs.
    size_t columns;
    const float* activations;
    size_t activation_stride;
    Epilogue epilogue;
    Outputs outputs;
};

// The outputs that a tile function computes, panel by panel.
struct FloatTileRange {
    const float* weights;  // The first panel.
    size_t first_row;      // Of the activations.
    size_t first_output;
    size_t last_output;  // One beyond the last.
};

using FloatTileFunction = void (*)(const FloatCall&, const FloatTileRange&);

// Few rows make one tile, which reads all panels. More rows are computed in blocks that stay in the second-level cache,
// a panel at a time.
template <size_t width, size_t highest>
inline void multiply_panels(const FloatCall& call, const float* packed, size_t count,
                            const TileFunctions<FloatTileFunction, highest>& tiles) {
    constexpr size_t block_rows = 10 * highest;
    const size_t first_output = call.outputs.first, last_output = smaller(call.outputs.last, call.rows);
    packed += first_output * call.columns;
    if (count <= highest) return tiles.functions[count - 1](call, {packed, 0, first_output, last_output});
    for (size_t row = 0; row < count; row += block_rows) {
        const float* panel = packed;
        for (size_t output = first_output; output < last_output; output += width, panel += width * call.columns) {
            for_tiles<highest>(smaller(block_rows, count - row), [&](size_t first, size_t height) {
                tiles.functions[height - 1](call, {panel, row + first, output, smaller(output + width, last_output)});
            });
        }
    }
}

}  // namespace
}  // namespace pocketmt
