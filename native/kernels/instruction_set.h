// The kernels that the sources of one instruction set define. Each is a constant, so that loading the library runs no
// code of an instruction set that the processor may lack.
#pragma once

#include "kernels.h"

namespace pocketmt::POCKETMT_INSTRUCTION_SET {

extern const Product float_product;
extern const Product integer_product;
extern const Product six_bit_product;
extern const Product lookup_table_product;
extern const Product row_lookup_table_product;
extern const Product binary_code_product;
extern const VectorFunctions vector_functions;
extern const FakeQuantizationFunctions fake_quantization_functions;
extern const Kernels kernels;

}  // namespace pocketmt::POCKETMT_INSTRUCTION_SET
