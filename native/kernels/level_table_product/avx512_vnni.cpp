#include "tables.h"
namespace pocketmt::avx512_vnni {
const LevelTableProduct level_table_product = portable::level_table_product;
}
