#include "tables.h"
namespace pocketmt::avx2 {
const IntegerProduct integer_product = portable::integer_product;
}
