// Panels of weights as tile registers read them: as they are packed, or prepared in memory that stays in a cache near
// the core. Whole tiles are read, so that panels whose inputs do not fill the last tile are prepared too, with zeros.
//
// A pair of tiles of rows is multiplied by one panel at once, a single tile by two. Meanwhile the next panels take
// their places, step by step; here a step is tile_inputs inputs, more than one of IntegerCall::steps. A source is made
// of a call and of the number of panels that are needed at once at most, and has
//   start(panels, first_tile)   begins with the first of some panels, for the tiles of rows from first_tile on
//   panel(index)                the panel of that index
//   prepare_next(index, step)   called when the tiles have been multiplied by a step of panel `index`
//   panel_scales()              floats from the scales of a panel to those of the next
#pragma once

#include <cstring>

#include "integer_product/call.h"
#include "integer_product/scratch.h"
#include "integer_product/six_bit_weights.h"
#include "lookup_table_product/weights.h"
#include "tile_product/tile_registers.h"

namespace pocketmt {
namespace {

constexpr size_t tile_panel_bytes = tile_inputs * panel_outputs;  // Of a panel, for the inputs of a tile.

// Some panels of a product, of which `at_once` are multiplied at once.
struct PanelRange {
    size_t first;
    size_t last;  // One beyond the last.
    size_t at_once;
};

// 8-bit weights that fill their tiles: for the first tiles of rows, the next panels are read ahead into the
// second-level cache.
class PackedPanels {
  public:
    using Products = Registers::SignedWeights;

    PackedPanels(const IntegerCall& call, size_t) : call_(call) {}

    void start(const PanelRange& panels, size_t first_tile) {
        at_once_ = panels.at_once;
        reads_ahead_ = first_tile == 0;
    }
    const uint8_t* panel(size_t index) const { return call_.weights + index * call_.panel_bytes; }
    POCKETMT_INLINE void prepare_next(size_t index, size_t step) const {
        if (!reads_ahead_) return;
        const uint8_t* next = panel(index + at_once_) + step * tile_panel_bytes;
        // Processors read the second line of a pair with the first one.
        constexpr size_t line_pair = 2 * cache_line;
        unrolled<tile_panel_bytes / line_pair>(
            [&](auto pair) POCKETMT_INLINE_LAMBDA { __builtin_prefetch(next + pair() * line_pair, 0, 2); });
    }
    static constexpr size_t panel_scales() { return panel_outputs; }

  private:
    const IntegerCall& call_;
    size_t at_once_ = 0;
    bool reads_ahead_ = false;
};

// How PreparedPanels reads weights, made of a call:
//   Products::zero             what is added to each weight where it is prepared
//   unit_inputs                inputs that are prepared at a time
//   panel_scales               as of a source
//   prepare(panel, unit, to)   prepares those of a panel in the layout of 8-bit weights

// 8-bit weights that do not fill their tiles.
struct CopiedWeights {
    using Products = Registers::SignedWeights;
    static constexpr size_t unit_inputs = step_inputs, panel_scales = panel_outputs;

    explicit CopiedWeights(const IntegerCall&) {}
    POCKETMT_INLINE static void prepare(const uint8_t* panel, size_t unit, uint8_t* to) {
        constexpr size_t bytes = 2 * group_bytes;
        std::memcpy(to, panel + unit * bytes, bytes);
    }
};

// Weights of fewer bits, decoded a register at a time. Weights: as of multiply_tile (integer_product/tile.h).
template <class Weights>
struct DecodedWeights {
    using Products = typename Weights::Products;
    static constexpr size_t unit_inputs = step_inputs, panel_scales = panel_outputs;
    Weights weights;

    explicit DecodedWeights(const IntegerCall& call) : weights(call) {}
    POCKETMT_INLINE void prepare(const uint8_t* panel, size_t unit, uint8_t* to) const {
        const uint8_t* step = panel + unit * Weights::step_bytes;
        unrolled<2 * parts>([&](auto each) POCKETMT_INLINE_LAMBDA {
            const auto loaded = weights.template load<each() / parts, each() % parts>(step);
            std::memcpy(to + each() * part_bytes, &loaded.weights, part_bytes);
        });
    }
};

template <class Weights>
class PreparedPanels {
  public:
    using Products = typename Weights::Products;

    PreparedPanels(const IntegerCall& call, size_t most_at_once)
        : call_(call),
          weights_(call),
          panel_bytes_(round_up(call.columns, tile_inputs) * panel_outputs),
          memory_(most_at_once * panel_bytes_) {
        const size_t prepared = call.steps * prepared_unit;
        for (size_t index = 0; index < most_at_once; ++index)
            std::memset(memory_.data() + index * panel_bytes_ + prepared, 0, panel_bytes_ - prepared);
    }

    void start(const PanelRange& panels, size_t) {
        panels_ = panels;
        for (size_t index = panels.first; index < smaller(panels.first + panels.at_once, panels.last); ++index) {
            for (size_t step = 0; step * tile_units < call_.steps; ++step) prepare(index, step);
        }
    }
    const uint8_t* panel(size_t index) const { return place(index); }
    POCKETMT_INLINE void prepare_next(size_t index, size_t step) const {
        if (index + panels_.at_once < panels_.last) prepare(index + panels_.at_once, step);
    }

    size_t panel_scales() const { return weights_.panel_scales; }

  private:
    static constexpr size_t tile_units = tile_inputs / Weights::unit_inputs;
    static constexpr size_t prepared_unit = Weights::unit_inputs * panel_outputs;

    uint8_t* place(size_t index) const { return memory_.data() + index % panels_.at_once * panel_bytes_; }
    POCKETMT_INLINE void prepare(size_t index, size_t step) const {
        size_t unit = step * tile_units;
        const size_t last = smaller(unit + tile_units, call_.steps);
        const uint8_t* panel = call_.weights + index * call_.panel_bytes;
        uint8_t* to = place(index) + step * tile_panel_bytes;
        for (; unit < last; ++unit, to += prepared_unit) weights_.prepare(panel, unit, to);
    }

    const IntegerCall& call_;
    Weights weights_;
    size_t panel_bytes_;
    PanelRange panels_{0, 0, 1};
    Scratch<32768> memory_;
};

}  // namespace
}  // namespace pocketmt
