#include "tables.h"
namespace pocketmt::avx512_vnni {
const FloatProduct float_product = portable::float_product;
}
