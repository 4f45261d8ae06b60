// Product of 4-bit codes with a table of levels for each row, with AVX2.
#include "integer_product/avx2_multiplication.h"
#include "row_table_product/avx2_product.h"
#include "tables.h"

namespace pocketmt::avx2 {

const LevelTableProduct row_table_product = row_tables<SignedWeights>;

}  // namespace pocketmt::avx2
