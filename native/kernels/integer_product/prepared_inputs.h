// Activations that are prepared once for all weights of a product: some registers multiply a few rows faster by them.
#pragma once

#include "integer_product/scratch.h"
#include "integer_product/tile.h"

namespace pocketmt {
namespace {

// The tiles of a panel share the work of asking for the next one: a single tile would wait for memory. Each asks for
// some cache lines of every step, from a line on.
template <size_t lines>
struct SharedAhead {
    size_t first_line;

    POCKETMT_INLINE void operator()(const IntegerCall& call, const uint8_t* step) const {
        prefetch_panel<lines * cache_line>(call, step + first_line * cache_line);
    }
};

// highest: most rows of a tile of this product; lines: cache lines of a step that each tile asks for.
template <size_t rows, class Weights, size_t highest, size_t lines>
void multiply_prepared_tile(const IntegerCall& call, const TileRange& range) {
    constexpr size_t step_lines = Weights::step_bytes / cache_line;
    static_assert(tile_parts<rows, Weights> == parts);
    const size_t tile = ceil_divide(range.first_row, highest);
    const size_t first_line = smaller(tile * lines, step_lines);
    if (first_line < step_lines) {
        multiply_parts<rows, Weights, 0, 1>(call, range, range.first_panel, range.weights, 0,
                                            SharedAhead<lines>{first_line});
    } else {
        multiply_parts<rows, Weights, 0, 1>(call, range, range.first_panel, range.weights, 0, SharedAhead<0>{});
    }
}

template <class Weights, size_t highest, size_t lines>
constexpr auto prepared_tiles = integer_tiles<highest>(
    [](auto rows) -> TileFunction { return multiply_prepared_tile<rows(), Weights, highest, lines>; });

// The product of a block of more than whole_panel_rows and fewer than `limit` rows by weights of prepared activations;
// returns false, and computes nothing, with other numbers of rows or if registers Set have no such weights. Weights: as
// of multiply_tile.
template <class Set, template <class> class Weights, size_t limit>
bool multiply_prepared(IntegerCall call, size_t rows) {
    if constexpr (requires { typename Set::WeightsOfPrepared; }) {
        if (rows <= Set::whole_panel_rows || rows >= limit) return false;
        using Products = typename Set::WeightsOfPrepared;
        const size_t stride = call.activations.stride;
        const Scratch<16384> scratch(rows * stride * Products::prepared_bytes);
        int8_t* prepared = reinterpret_cast<int8_t*>(scratch.data());
        int32_t sums[limit];
        for (size_t row = 0; row < rows; ++row) {
            sums[row] = Products::prepare(call.activations.codes + row * stride, stride,
                                          prepared + row * stride * Products::prepared_bytes);
        }
        call.prepared_inputs = prepared;
        call.prepared_sums = sums;
        // A step has four cache lines: two or four tiles share them evenly.
        constexpr size_t highest = Set::whole_panel_rows;
        if (rows <= 2 * highest) {
            multiply_panels(call, rows, prepared_tiles<Weights<Products>, highest, 2>);
        } else if (rows <= 3 * highest) {
            multiply_panels(call, rows, prepared_tiles<Weights<Products>, highest - 1, 1>);
        } else {
            multiply_panels(call, rows, prepared_tiles<Weights<Products>, highest, 1>);
        }
        return true;
    }
    return false;
}

}  // namespace
}  // namespace pocketmt
