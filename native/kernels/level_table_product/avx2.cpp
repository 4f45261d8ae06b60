// 4-bit level table product with AVX2.
#include "integer_product/avx2_multiplication.h"
#include "level_table_product/avx2_product.h"
#include "tables.h"

namespace pocketmt::avx2 {

const LevelTableProduct level_table_product = {LevelPanels::packed_bytes, LevelPanels::pack, LevelPanels::unpack_row,
                                               LevelPanels::gather, multiply_levels<SignedWeights>};

}  // namespace pocketmt::avx2
