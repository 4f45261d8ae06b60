// Tables of partial sums of activations, for instructions that look up bytes in tables of 16.
#pragma once

#include "integer_product/scratch.h"
#include "registers.h"

namespace pocketmt {
namespace {

constexpr size_t nibble_inputs = 4;
constexpr size_t nibble_table_bytes = 32;
constexpr int high_factor = 16;
constexpr int high_offset = 32;  // Added to each sum of high parts, so that none is negative.

// For each group of 4 activations of some rows, the sums over its 16 subsets: entry e is the sum of the activations
// whose bit is set in e. An activation is low + 16 * high, low from 0 to 15 and high from -8 to 7. A table is 16 bytes
// with the sums of the low parts, at most 60, then 16 bytes with the sums of the high parts + high_offset, at most 60
// as well. A byte can hold the sum of four of either. Registers::fill_subset_sums writes the table of four codes.
class NibbleTables {
  public:
    NibbleTables(size_t groups, size_t rows) : row_bytes_(groups * nibble_table_bytes), tables_(rows * row_bytes_) {}

    const uint8_t* data() const { return tables_.data(); }

    // codes: padded with zeros to whole groups.
    void fill(size_t row, const int8_t* codes) {
        uint8_t* table = tables_.data() + row * row_bytes_;
        for (const uint8_t* end = table + row_bytes_; table < end; table += nibble_table_bytes, codes += nibble_inputs)
            Registers::fill_subset_sums(codes, table, high_offset);
    }

  private:
    size_t row_bytes_;
    Scratch<16384> tables_;
};

}  // namespace
}  // namespace pocketmt
