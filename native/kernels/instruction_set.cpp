// The table of one instruction set's kernels.
#include "instruction_set.h"

#include "registers.h"

#define POCKETMT_TEXT_OF(name) #name
#define POCKETMT_NAME(name) POCKETMT_TEXT_OF(name)

namespace pocketmt::POCKETMT_INSTRUCTION_SET {

constinit const Kernels kernels = {POCKETMT_NAME(POCKETMT_INSTRUCTION_SET),
                                   Registers::requirements,
                                   {&float_product, &integer_product, &six_bit_product, &lookup_table_product,
                                    &row_lookup_table_product, &binary_code_product},
                                   vector_functions,
                                   fake_quantization_functions,
                                   Registers::expands_tables,
                                   few_checked_rows,
                                   Registers::batch_rows};

}  // namespace pocketmt::POCKETMT_INSTRUCTION_SET
