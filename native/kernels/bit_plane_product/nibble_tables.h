// Tables of partial sums of activations, for instructions that look up bytes in tables of 16 of them.
#pragma once

#include <new>

#include "bit_plane_product/call.h"
#include "kernels.h"

namespace pocketmt {
namespace {

constexpr size_t nibble_inputs = 4;
constexpr size_t step_nibbles = plane_step_inputs / nibble_inputs;
constexpr size_t nibble_table_bytes = 32;
constexpr size_t step_table_bytes = step_nibbles * nibble_table_bytes;
constexpr int high_factor = 16;
// What is added to each sum of high parts, so that none is negative.
constexpr int high_offset = 32;

// For each group of 4 activations of some rows, the sums over its 16 subsets, entry e over those whose bit is set in e.
// An activation is low + 16 * high, low from 0 to 15 and high from -8 to 7: a table is 16 bytes of sums of low parts,
// at most 60, then 16 of sums of high parts + high_offset, at most 60 as well. Four of either fit a byte.
// fill_table writes the table of four codes.
template <void (*fill_table)(const int8_t* codes, uint8_t* table)>
class NibbleTables {
  public:
    NibbleTables(size_t steps, size_t rows)
        : row_bytes_(steps * step_table_bytes),
          tables_(rows * row_bytes_ <= stack_bytes ? own_ : new_bytes(rows * row_bytes_)) {}
    ~NibbleTables() {
        if (tables_ != own_) ::operator delete(tables_, std::align_val_t(nibble_table_bytes));
    }
    NibbleTables(const NibbleTables&) = delete;
    NibbleTables& operator=(const NibbleTables&) = delete;

    const uint8_t* data() const { return tables_; }

    // codes: padded with zeros to whole steps.
    void fill(size_t row, const int8_t* codes) {
        uint8_t* table = tables_ + row * row_bytes_;
        for (const uint8_t* end = table + row_bytes_; table < end; table += nibble_table_bytes, codes += nibble_inputs)
            fill_table(codes, table);
    }

  private:
    static constexpr size_t stack_bytes = 16384;

    static uint8_t* new_bytes(size_t count) {
        return static_cast<uint8_t*>(::operator new(count, std::align_val_t(nibble_table_bytes)));
    }

    size_t row_bytes_;
    alignas(nibble_table_bytes) uint8_t own_[stack_bytes];
    uint8_t* tables_;
};

// The whole product. The tables of a block of rows stay in the second-level cache while every panel passes over them.
template <void (*fill_table)(const int8_t* codes, uint8_t* table), size_t highest>
inline void multiply_by_tables(PlaneCall call, size_t count, const PlaneTile (&tiles)[highest]) {
    constexpr size_t block_rows = 8;
    NibbleTables<fill_table> tables(call.parts.steps, smaller(count, block_rows));
    call.tables = tables.data();
    for (size_t row = 0; row < count; row += block_rows) {
        const size_t height = smaller(block_rows, count - row);
        for (size_t index = 0; index < height; ++index)
            tables.fill(index, call.activations.codes + index * call.activations.stride);
        multiply_planes(call, height, tiles);
        call.activations.codes += height * call.activations.stride;
        call.activations.scales += height;
        call.outputs.values += height * call.outputs.stride;
    }
}

}  // namespace
}  // namespace pocketmt
