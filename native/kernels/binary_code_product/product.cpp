// The product of binary codes, by look-ups of words where the instruction set has them and otherwise of bytes.
#include "instruction_set.h"
#include "registers.h"

#if defined(POCKETMT_LOOKS_UP_WORDS)
#include "binary_code_product/word_product.h"
#else
#include "binary_code_product/nibble_product.h"
#endif

namespace pocketmt::POCKETMT_INSTRUCTION_SET {

constinit const Product binary_code_product = {.name = "binary code product",
                                               .tabulates_input = true,
                                               .packed_bytes = BinaryCodePanels<BinaryCodeLayout>::packed_bytes,
                                               .pack = BinaryCodePanels<BinaryCodeLayout>::pack,
                                               .unpack_row = BinaryCodePanels<BinaryCodeLayout>::unpack_row,
                                               .gather = BinaryCodePanels<BinaryCodeLayout>::gather,
                                               .multiply = multiply_binary_codes};

}  // namespace pocketmt::POCKETMT_INSTRUCTION_SET
