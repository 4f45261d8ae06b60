// The product of rows of activations with panels of 8-bit weights in tile registers. The packed layout of 8-bit weights
// (integer_product/panels.h) is the one that tiles read: a tile has 16 groups of 4 inputs for half of a panel's
// outputs.
#pragma once

#include "integer_product/call.h"
#include "tile_product/pending_sums.h"
#include "tile_product/sources.h"
#include "tile_product/tile_registers.h"

namespace pocketmt {
namespace {

// Rows of activations, cut into tiles of one height. The last tile begins early enough to have all of
// its rows: the sums of those that it shares with the one before are computed twice.
struct RowTiles {
    size_t rows;
    size_t count;
    size_t height;

    explicit RowTiles(size_t rows)
        : rows(rows), count(ceil_divide(rows, tile_rows)), height(ceil_divide(rows, count)) {}
    size_t first_row(size_t tile) const { return smaller(tile * height, rows - height); }
    size_t shared_rows(size_t tile) const { return tile * height - first_row(tile); }
};

// Multiplies four tiles of sums, step by step, while the results of the four before are stored:
// add_products(byte of a panel, input) and then end_step(step).
template <class Pending, class AddProducts, class EndStep>
POCKETMT_INLINE void multiply_steps(const IntegerCall& call, size_t height, Pending& pending,
                                    const AddProducts& add_products, const EndStep& end_step) {
    const size_t steps = ceil_divide(call.columns, tile_inputs);
    const size_t rows_of_step = ceil_divide(Pending::row_tiles * height, steps);
    clear_sums();
    for (size_t step = 0; step < steps; ++step) {
        add_products(step * tile_panel_bytes, step * tile_inputs);
        pending.store(rows_of_step);
        end_step(step);
    }
}

// Two tiles of rows by one panel.
template <class Pending, class EndStep>
void multiply_two_by_two(const IntegerCall& call, const RowTiles& tiles, size_t tile, const uint8_t* weights,
                         size_t panel, Pending& pending, const EndStep& end_step) {
    const size_t stride = call.activations.stride;
    const size_t rows[2] = {tiles.first_row(tile), tiles.first_row(tile + 1)};
    const size_t shared[2] = {tiles.shared_rows(tile), tiles.shared_rows(tile + 1)};
    const int8_t* upper = call.activations.codes + rows[0] * stride;
    const int8_t* lower = call.activations.codes + rows[1] * stride;
    const auto add_products = [&](size_t byte, size_t input) POCKETMT_INLINE_LAMBDA {
        load_tile<4>(upper + input, stride);
        load_tile<6>(weights + byte, group_bytes);
        multiply_add_tiles<0, 4, 6>();
        load_tile<7>(weights + byte + tile_row_bytes, group_bytes);
        multiply_add_tiles<1, 4, 7>();
        load_tile<5>(lower + input, stride);
        multiply_add_tiles<2, 5, 6>();
        multiply_add_tiles<3, 5, 7>();
    };
    multiply_steps(call, tiles.height, pending, add_products, end_step);
    pending.take(rows, shared, panel * panel_outputs);
}

// A tile of rows by two panels. If only one is left, it is given twice, and the other results are not stored.
template <class Pending, class EndStep>
void multiply_one_by_four(const IntegerCall& call, const RowTiles& tiles, size_t tile, const uint8_t* first,
                          const uint8_t* second, size_t panel, Pending& pending, const EndStep& end_step) {
    const size_t stride = call.activations.stride;
    const size_t rows[1] = {tiles.first_row(tile)}, shared[1] = {tiles.shared_rows(tile)};
    const int8_t* codes = call.activations.codes + rows[0] * stride;
    const auto add_products = [&](size_t byte, size_t input) POCKETMT_INLINE_LAMBDA {
        load_tile<4>(codes + input, stride);
        load_tile<6>(first + byte, group_bytes);
        multiply_add_tiles<0, 4, 6>();
        load_tile<7>(first + byte + tile_row_bytes, group_bytes);
        multiply_add_tiles<1, 4, 7>();
        load_tile<6>(second + byte, group_bytes);
        multiply_add_tiles<2, 4, 6>();
        load_tile<7>(second + byte + tile_row_bytes, group_bytes);
        multiply_add_tiles<3, 4, 7>();
    };
    multiply_steps(call, tiles.height, pending, add_products, end_step);
    pending.take(rows, shared, panel * panel_outputs);
}

// Bytes of weights that stay in the second-level cache while all tiles of rows pass over them.
constexpr size_t near_bytes = 512 * 1024;

// The product of some rows. Source: where the weights come from (tile_product/sources.h). adds: as of PendingSums.
template <class Source, bool adds>
void multiply_tiles(const IntegerCall& call, size_t rows) {
    const RowTiles tiles(rows);
    const TileShapes shapes(tiles.height);
    int32_t first_sums[block_rows];
    for (size_t row = 0; row < rows; ++row) first_sums[row] = -Source::Products::zero * call.activation_sums[row];
    Source source(call, tiles.count % 2 + 1);
    PendingSums<2, adds> pairs(call, first_sums, tiles.height, source.panel_scales());
    PendingSums<4, adds> singles(call, first_sums, tiles.height, source.panel_scales());
    const auto multiply_pair = [&](const PanelRange& panels, size_t tile) {
        source.start(panels, tile);
        for (size_t panel = panels.first; panel < panels.last; ++panel) {
            multiply_two_by_two(call, tiles, tile, source.panel(panel), panel, pairs,
                                [&](size_t step) POCKETMT_INLINE_LAMBDA { source.prepare_next(panel, step); });
        }
    };
    const auto multiply_single = [&](const PanelRange& panels, size_t tile) {
        source.start(panels, tile);
        for (size_t panel = panels.first; panel < panels.last; panel += 2) {
            const size_t second = smaller(panel + 1, panels.last - 1);
            multiply_one_by_four(call, tiles, tile, source.panel(panel), source.panel(second), panel, singles,
                                 [&](size_t step) POCKETMT_INLINE_LAMBDA {
                                     source.prepare_next(panel, step);
                                     source.prepare_next(panel + 1, step);
                                 });
        }
    };
    const size_t near_panels =
        larger(2, near_bytes / (ceil_divide(call.columns, tile_inputs) * tile_panel_bytes) / 2 * 2);
    const size_t last = last_panel(call.outputs, call.rows);
    for (size_t first = first_panel(call.outputs); first < last; first += near_panels) {
        const size_t end = smaller(first + near_panels, last);
        for (size_t tile = 0; tile + 1 < tiles.count; tile += 2) multiply_pair({first, end, 1}, tile);
        if (tiles.count % 2 == 1) multiply_single({first, end, 2}, tiles.count - 1);
    }
    pairs.store_all();
    singles.store_all();
}

}  // namespace
}  // namespace pocketmt
