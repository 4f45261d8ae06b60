#include "tables.h"
namespace pocketmt::avx512_vnni {
const IntegerProduct integer_product = portable::integer_product;
}
