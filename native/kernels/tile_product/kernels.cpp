// The kernels of processors with Intel AMX: those of AVX-512 VNNI, but for products of several rows of activations.
#include "instruction_set.h"
#include "registers/x86_features.h"
#include "tile_product/binary_codes.h"
#include "tile_product/multiply.h"
#include "tile_product/row_lookup_tables.h"
#include "tile_product/sources.h"

namespace pocketmt::avx512_vnni {

extern const Product float_product;
extern const Product integer_product;
extern const Product six_bit_product;
extern const Product lookup_table_product;
extern const Product row_lookup_table_product;
extern const Product binary_code_product;
extern const VectorFunctions vector_functions;
extern const FakeQuantizationFunctions fake_quantization_functions;

}  // namespace pocketmt::avx512_vnni

namespace pocketmt {
namespace {

// Fewer rows are multiplied faster in vector registers, because the time of tiles hardly depends on their rows.
// Measured on a Xeon of the 5th generation, also while another thread of the core was busy.
constexpr size_t fewest_rows = 8;
constexpr size_t fewest_rows_of_large_matrix = 12;
constexpr size_t fewest_decoded_rows = 16;
constexpr size_t fewest_sign_rows = 12;
// 32 rows, two whole tiles, are somewhat faster, but take more memory.
constexpr size_t batch_rows = 24;

template <class Source>
void multiply_in_tiles(const IntegerCall& call, const ProductInput& input) {
    multiply_blocks(call, input.count, Source::Products::zero != 0,
                    [](const IntegerCall& block, size_t rows) { multiply_tiles<Source, false>(block, rows); });
}

void multiply_bytes(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                    const Outputs& outputs) {
    const size_t steps = step_count(matrix.shape.columns);
    const bool large = panel_count(matrix.shape.rows) * steps * 2 * group_bytes >= large_matrix;
    if (input.count < (large ? fewest_rows_of_large_matrix : fewest_rows))
        return avx512_vnni::integer_product.multiply(matrix, input, epilogue, outputs);
    const IntegerCall call = integer_call(static_cast<const uint8_t*>(matrix.data), nullptr, steps,
                                          steps * 2 * group_bytes, matrix.shape, input, epilogue, outputs);
    if (matrix.shape.columns % tile_inputs == 0) return multiply_in_tiles<PackedPanels>(call, input);
    multiply_in_tiles<PreparedPanels<CopiedWeights>>(call, input);
}

void multiply_six_bits(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                       const Outputs& outputs) {
    if (input.count < fewest_decoded_rows)
        return avx512_vnni::six_bit_product.multiply(matrix, input, epilogue, outputs);
    const IntegerCall call =
        integer_call(static_cast<const uint8_t*>(matrix.data), nullptr, step_count(matrix.shape.columns),
                     six_bit_panel_bytes(matrix.shape.columns), matrix.shape, input, epilogue, outputs);
    multiply_in_tiles<PreparedPanels<DecodedWeights<SixBitWeights>>>(call, input);
}

void multiply_codes(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                    const Outputs& outputs) {
    if (input.count < fewest_decoded_rows)
        return avx512_vnni::lookup_table_product.multiply(matrix, input, epilogue, outputs);
    const LookupTableParts block = lookup_table_parts(matrix.shape);
    const uint8_t* bytes = static_cast<const uint8_t*>(matrix.data);
    const IntegerCall call = integer_call(bytes + block.codes, bytes, step_count(matrix.shape.columns),
                                          block.panel_bytes, matrix.shape, input, epilogue, outputs);
    multiply_in_tiles<PreparedPanels<DecodedWeights<LookupTableWeights<Registers::SignedWeights>>>>(call, input);
}

void multiply_row_codes(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                        const Outputs& outputs) {
    if (input.count < fewest_decoded_rows)
        return avx512_vnni::row_lookup_table_product.multiply(matrix, input, epilogue, outputs);
    const RowLookupTableParts block = row_lookup_table_parts(matrix.shape);
    const IntegerCall call = integer_call(static_cast<const uint8_t*>(matrix.data), nullptr, block.steps,
                                          block.panel_bytes, matrix.shape, input, epilogue, outputs);
    multiply_in_tiles<PreparedPanels<RowTableWeights>>(call, input);
}

void multiply_signs(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                    const Outputs& outputs) {
    if (input.count < fewest_sign_rows)
        return avx512_vnni::binary_code_product.multiply(matrix, input, epilogue, outputs);
    multiply_signs_in_tiles(matrix, input, epilogue, outputs);
}

using Bytes = BytePanels<Registers::SignedWeights::zero>;
using RowTables = RowLookupTablePanels<RowTableWeights::register_lanes>;
using Signs = BinaryCodePanels<WordLayout>;

}  // namespace

namespace POCKETMT_INSTRUCTION_SET {

constinit const Product integer_product = {.name = "8-bit product",
                                           .packed_bytes = Bytes::packed_bytes,
                                           .pack = Bytes::pack,
                                           .unpack_row = Bytes::unpack_row,
                                           .gather = Bytes::gather,
                                           .multiply = multiply_bytes};
constinit const Product six_bit_product = {.name = "6-bit product",
                                           .packed_bytes = SixBitPanels::packed_bytes,
                                           .pack = SixBitPanels::pack,
                                           .unpack_row = SixBitPanels::unpack_row,
                                           .gather = SixBitPanels::gather,
                                           .multiply = multiply_six_bits};
constinit const Product lookup_table_product = {.name = "lookup table product",
                                                .packed_bytes = LookupTablePanels::packed_bytes,
                                                .pack = LookupTablePanels::pack,
                                                .unpack_row = LookupTablePanels::unpack_row,
                                                .gather = LookupTablePanels::gather,
                                                .multiply = multiply_codes};
constinit const Product row_lookup_table_product = {.name = "row lookup table product",
                                                    .packed_bytes = RowTables::packed_bytes,
                                                    .pack = RowTables::pack,
                                                    .unpack_row = RowTables::unpack_row,
                                                    .gather = RowTables::gather,
                                                    .multiply = multiply_row_codes};
constinit const Product binary_code_product = {.name = "binary code product",
                                               .tabulates_input = true,
                                               .packed_bytes = Signs::packed_bytes,
                                               .pack = Signs::pack,
                                               .unpack_row = Signs::unpack_row,
                                               .gather = Signs::gather,
                                               .multiply = multiply_signs};

constinit const Kernels kernels = {"amx_int8",
                                   {{has_avx, has_fma, has_avx2, has_avx512f, has_avx512dq, has_avx512bw, has_avx512vl,
                                     has_avx512_vnni, has_amx_tile, has_amx_int8},
                                    saves_amx},
                                   {&avx512_vnni::float_product, &integer_product, &six_bit_product,
                                    &lookup_table_product, &row_lookup_table_product, &binary_code_product},
                                   avx512_vnni::vector_functions,
                                   avx512_vnni::fake_quantization_functions,
                                   Registers::expands_tables,
                                   most_checked_rows,  // A pair of tiles, and a third one that shares a row.
                                   batch_rows};

}  // namespace POCKETMT_INSTRUCTION_SET
}  // namespace pocketmt
