#include "level_table_product/avx_vnni_product.h"
#include "row_table_product/avx_vnni_product.h"
#include "testing/imitated_avx_vnni/products.h"

namespace pocketmt::testing::imitated_avx_vnni {

const IntegerProduct integer_product = avx_vnni_integer_product;
const IntegerProduct six_bit_product = avx_vnni_six_bit_product;
const LevelTableProduct level_table_product = avx_vnni_level_table_product;
const LevelTableProduct row_table_product = avx_vnni_row_table_product;

}  // namespace pocketmt::testing::imitated_avx_vnni
