#include "row_table_product/avx_vnni_product.h"
#include "tables.h"

namespace pocketmt::avx_vnni {

const LevelTableProduct row_table_product = avx_vnni_row_table_product;

}  // namespace pocketmt::avx_vnni
