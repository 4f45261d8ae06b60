#include "tables.h"
namespace pocketmt::avx2 {
const LevelTableProduct level_table_product = portable::level_table_product;
}
