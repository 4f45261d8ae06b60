#include "level_table_product/avx_vnni_product.h"
#include "tables.h"

namespace pocketmt::avx_vnni {

const LevelTableProduct level_table_product = avx_vnni_level_table_product;

}  // namespace pocketmt::avx_vnni
