// The product of 4-bit codes with one table of levels: codes become 8-bit weights by a look-up in registers. A tile of
// many rows hides the look-ups behind its multiplications.
#include "instruction_set.h"
#include "integer_product/non_negative.h"
#include "lookup_table_product/weights.h"

namespace pocketmt {
namespace {

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
