// Four tiles of sums that have been multiplied, whose results are stored while the tile registers multiply the next
// four: otherwise the two would wait for each other.
#pragma once

#include "integer_product/call.h"
#include "tile_product/tile_registers.h"

namespace pocketmt {
namespace {

constexpr size_t sum_tiles = 4;

// The tiles are those of some rows by `columns` tiles of outputs. adds: whether the products are added to the outputs,
// before the epilogue.
template <size_t columns, bool adds>
class PendingSums {
  public:
    static constexpr size_t row_tiles = sum_tiles / columns;

    // first_sums: what is added to the sums of each row of activations. panel_scales: as of a source (sources.h).
    PendingSums(const IntegerCall& call, const int32_t* first_sums, size_t height, size_t panel_scales)
        : call_(call), first_sums_(first_sums), height_(height), panel_scales_(panel_scales) {}

    // Takes the sums in tiles 0 to 3, of `height` rows each from first_rows on, and of the outputs from `output` on. Of
    // each tile of rows, the first skipped_rows have been stored before.
    POCKETMT_INLINE void take(const size_t (&first_rows)[row_tiles], const size_t (&skipped_rows)[row_tiles],
                              size_t output) {
        store_tile<0>(sums_[0], sizeof sums_[0][0]);
        store_tile<1>(sums_[1], sizeof sums_[1][0]);
        store_tile<2>(sums_[2], sizeof sums_[2][0]);
        store_tile<3>(sums_[3], sizeof sums_[3][0]);
        for (size_t tile = 0; tile < row_tiles; ++tile) {
            first_rows_[tile] = first_rows[tile];
            skipped_rows_[tile] = skipped_rows[tile];
        }
        output_ = output;
        tile_ = 0;
        row_ = skipped_rows_[0];
        all_valid_ = output + columns * tile_rows <= call_.rows && call_.epilogue.offsets == nullptr;
        if (!all_valid_) return;
        for (size_t column = 0; column < columns; ++column) {
            const size_t first = output + column * tile_rows;
            weight_scales_[column] = scales_of(first);
            bias_[column] = OutputLanes(call_.epilogue, call_.outputs, call_.rows, 0, first).bias;
        }
    }
    // Stores the results of at most `count` more rows.
    POCKETMT_INLINE void store(size_t count) {
        while (count > 0 && tile_ < row_tiles) {
            const size_t last = smaller(row_ + count, height_);
            count -= last - row_;
            if (!all_valid_) {
                store_some_rows(last);
            } else if (call_.epilogue.activation == Activation::relu) {
                store_rows<Activation::relu>(last);
            } else {
                store_rows<Activation::none>(last);
            }
            row_ = last;
            if (row_ < height_) continue;
            ++tile_;
            row_ = tile_ < row_tiles ? skipped_rows_[tile_] : 0;
        }
    }
    void store_all() { store(row_tiles * height_); }

  private:
    POCKETMT_INLINE Registers::Floats scales_of(size_t output) const {
        return Registers::load(call_.weight_scales + output / panel_outputs * panel_scales_ + output % panel_outputs);
    }
    // The sums of a row, with what belongs to them, as floats.
    POCKETMT_INLINE static Registers::Floats value(const int32_t (&sums)[tile_rows], Registers::Integers first_sum,
                                                   Registers::Floats activation_scale,
                                                   Registers::Floats weight_scales) {
        return Registers::to_floats(Registers::load(sums) + first_sum) * (activation_scale * weight_scales);
    }
    // Stores the rows before `last`, whose outputs all exist and have no offsets.
    template <Activation activation>
    POCKETMT_INLINE void store_rows(size_t last) const {
        // Copies, because the compiler cannot know that storing results leaves the members as they are.
        const auto* sums = sums_ + tile_ * columns;
        Registers::Floats weight_scales[columns], bias[columns];
        for (size_t column = 0; column < columns; ++column) {
            weight_scales[column] = weight_scales_[column];
            bias[column] = bias_[column];
        }
        const size_t first_row = first_rows_[tile_], stride = call_.outputs.stride;
        const int32_t* first_sums = first_sums_ + first_row;
        const float* scales = call_.activations.scales + first_row;
        float* values = call_.outputs.values + (first_row + row_) * stride + output_ - call_.outputs.first;
        for (size_t row = row_; row < last; ++row, values += stride) {
            const auto first_sum = Registers::broadcast(first_sums[row]);
            const auto scale = Registers::broadcast(scales[row]);
            unrolled<columns>([&](auto column) POCKETMT_INLINE_LAMBDA {
                auto result = value(sums[column()][row], first_sum, scale, weight_scales[column()]);
                if constexpr (adds) result = Registers::load(values + column() * tile_rows) + result;
                Registers::store(values + column() * tile_rows, activated(activation, result + bias[column()]));
            });
        }
    }
    // The same of any outputs, of which some may not exist.
    void store_some_rows(size_t last) const {
        for (size_t column = 0; column < columns; ++column) {
            const size_t output = output_ + column * tile_rows, first_row = first_rows_[tile_];
            if (output >= call_.rows) return;
            const OutputLanes lanes(call_.epilogue, call_.outputs, call_.rows, first_row, output);
            const auto weight_scales = scales_of(output);
            store_quantized(
                lanes, call_.activations.scales + first_row, call_.activation_sums + first_row,
                [&](const auto& body) {
                    for (Index row{row_}; row.value < last; ++row.value) body(row);
                },
                [&](auto row, float activation_scale) {
                    const auto result = value(sums_[tile_ * columns + column][row()],
                                              Registers::broadcast(first_sums_[first_row + row()]),
                                              Registers::broadcast(activation_scale), weight_scales);
                    if constexpr (!adds) return result;
                    return Registers::load_first(lanes.values + row() * lanes.stride, lanes.valid) + result;
                });
        }
    }

    alignas(64) int32_t sums_[sum_tiles][tile_rows][tile_rows];
    Registers::Floats weight_scales_[columns];
    Registers::Floats bias_[columns];
    const IntegerCall& call_;
    const int32_t* first_sums_;
    size_t height_;
    size_t panel_scales_;
    size_t first_rows_[row_tiles];
    size_t skipped_rows_[row_tiles];
    size_t output_ = 0;
    size_t tile_ = row_tiles;  // The next row to be stored.
    size_t row_ = 0;
    bool all_valid_ = false;
};

}  // namespace
}  // namespace pocketmt
