// The 4-bit weights of a step, as the registers multiply them: levels that are looked up in registers.
#pragma once

#include "integer_product/call.h"
#include "integer_product/tile.h"
#include "lookup_table_product/panels.h"

namespace pocketmt {
namespace {

template <class Chosen>
struct LookupTableWeights {
    using Products = Chosen;
    static constexpr size_t step_bytes = group_bytes, read_ahead = page;
    static constexpr bool decoded = true;
    Registers::Bytes table;

    explicit LookupTableWeights(const IntegerCall& call)
        : table(Registers::load(call.levels) + static_cast<uint8_t>(Products::zero)) {}

    // A byte of codes has an input of the first group in its low nibble and one of the second group in its high one.
    template <size_t group, size_t part>
    POCKETMT_INLINE Products load(const uint8_t* step) const {
        const auto codes = Registers::nibbles<group>(Registers::load(step + part * part_bytes));
        return Products(Registers::look_up(table, codes));
    }
};

}  // namespace
}  // namespace pocketmt
