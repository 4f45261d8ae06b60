// Panels of weights as tile registers read them: as they are packed, or prepared in memory that stays in a cache near
// the core. Whole tiles are read, so that panels whose inputs do not fill the last tile are prepared too, with zeros.
//
// A product needs one panel or two at once. While the last block of rows is multiplied by them, the next panels take
// their places, step by step: a step is tile_inputs inputs. A source is made of a call and the number of panels that
// are needed at once, and has
//   panel(index)                      the panel of that index
//   prepare_next(index, step, turn)   called when a block of rows has been multiplied by a step of panel `index`
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
constexpr size_t tile_steps = tile_inputs / step_inputs;

// Which of the blocks of rows, all of which are multiplied by a panel in turn, is multiplied now.
struct Turn {
    size_t block;
    size_t blocks;
};

// 8-bit weights that fill their tiles: the next panels are only read ahead, into the second-level cache.
class PackedPanels {
  public:
    using Products = Registers::SignedWeights;

    PackedPanels(const IntegerCall& call, size_t needed) : call_(call), needed_(needed) {}

    const uint8_t* panel(size_t index) const { return call_.weights + index * call_.panel_bytes; }
    // Spread evenly over the blocks, because a core waits when it asks for much memory at once.
    POCKETMT_INLINE void prepare_next(size_t index, size_t step, Turn turn) const {
        const size_t steps_before = turn.block * ceil_divide(call_.columns, tile_inputs) + step;
        if (steps_before % turn.blocks != 0) return;
        const uint8_t* next = panel(index + needed_) + steps_before / turn.blocks * tile_panel_bytes;
        unrolled<tile_panel_bytes / cache_line>(
            [&](auto line) POCKETMT_INLINE_LAMBDA { __builtin_prefetch(next + line() * cache_line, 0, 2); });
    }

  private:
    const IntegerCall& call_;
    size_t needed_;
};

// How 8-bit weights that do not fill their tiles are copied.
class CopiedWeights {
  public:
    using Products = Registers::SignedWeights;
    static constexpr size_t step_bytes = 2 * group_bytes;

    explicit CopiedWeights(const IntegerCall&) {}
    template <size_t group, size_t part>
    POCKETMT_INLINE Products load(const uint8_t* step) const {
        return Products(Registers::load(step + group * group_bytes + part * part_bytes));
    }
};

// Weights of fewer bits, decoded a register at a time. Weights: as of multiply_tile (integer_product/tile.h).
template <class Weights>
class PreparedPanels {
  public:
    using Products = typename Weights::Products;

    PreparedPanels(const IntegerCall& call, size_t needed)
        : call_(call),
          weights_(call),
          needed_(needed),
          panel_bytes_(round_up(call.columns, tile_inputs) * panel_outputs),
          memory_(needed * panel_bytes_),
          last_(last_panel(call.outputs, call.rows)) {
        const size_t prepared = call.steps * 2 * group_bytes, first = first_panel(call.outputs);
        for (size_t index = first; index < smaller(first + needed, last_); ++index) {
            std::memset(place(index) + prepared, 0, panel_bytes_ - prepared);
            for (size_t step = 0; step * tile_steps < call.steps; ++step) prepare(index, step);
        }
    }

    const uint8_t* panel(size_t index) const { return place(index); }
    POCKETMT_INLINE void prepare_next(size_t index, size_t step, Turn turn) const {
        if (turn.block + 1 == turn.blocks && index + needed_ < last_) prepare(index + needed_, step);
    }

  private:
    uint8_t* place(size_t index) const { return memory_.data() + index % needed_ * panel_bytes_; }
    POCKETMT_INLINE void prepare(size_t index, size_t tile_step) const {
        size_t step = tile_step * tile_steps;
        const size_t last = smaller(step + tile_steps, call_.steps);
        const uint8_t* from = call_.weights + index * call_.panel_bytes + step * Weights::step_bytes;
        uint8_t* to = place(index) + tile_step * tile_panel_bytes;
        for (; step < last; ++step, from += Weights::step_bytes, to += 2 * group_bytes) {
            prefetch<Weights::step_bytes, far_ahead>(from);
            unrolled<2 * parts>([&](auto each) POCKETMT_INLINE_LAMBDA {
                const auto loaded = weights_.template load<each() / parts, each() % parts>(from);
                std::memcpy(to + each() * part_bytes, &loaded.weights, part_bytes);
            });
        }
    }

    const IntegerCall& call_;
    Weights weights_;
    size_t needed_;
    size_t panel_bytes_;
    Scratch<32768> memory_;
    size_t last_;
};

}  // namespace
}  // namespace pocketmt
