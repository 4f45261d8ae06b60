#include "tables.h"
namespace pocketmt::avx2 {
const FloatProduct float_product = portable::float_product;
}
