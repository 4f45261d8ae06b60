// The product of 4-bit codes with one table of levels: codes become 8-bit weights by a look-up in registers. A tile of
// many rows hides the look-ups behind its multiplications.
#include "instruction_set.h"
#include "integer_product/non_negative.h"
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

void multiply(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue, const Outputs& outputs) {
    const LookupTableParts block = lookup_table_parts(matrix.shape);
    const uint8_t* bytes = static_cast<const uint8_t*>(matrix.data);
    const IntegerCall call = integer_call(bytes + block.codes, bytes, step_count(matrix.shape.columns),
                                          block.panel_bytes, matrix.shape, input, epilogue, outputs);
    using Weights = LookupTableWeights<Registers::SignedWeights>;
    constexpr size_t fewest = Registers::expanding_table_rows;
    multiply_blocks(call, input.count, Weights::Products::zero != 0, [](const IntegerCall& block, size_t rows) {
        if (!multiply_non_negative<Registers, LookupTableWeights, fewest>(block, rows))
            multiply_rows<Weights, fewest>(block, rows, symmetric_tiles<LookupTableWeights>);
    });
}

}  // namespace

namespace POCKETMT_INSTRUCTION_SET {

constinit const Product lookup_table_product = {.name = "lookup table product",
                                                .packed_bytes = LookupTablePanels::packed_bytes,
                                                .pack = LookupTablePanels::pack,
                                                .unpack_row = LookupTablePanels::unpack_row,
                                                .gather = LookupTablePanels::gather,
                                                .multiply = multiply};

}  // namespace POCKETMT_INSTRUCTION_SET
}  // namespace pocketmt
