#include "integer_product/avx_vnni_product.h"
#include "tables.h"

namespace pocketmt::avx_vnni {

const IntegerProduct integer_product = avx_vnni_integer_product;
const IntegerProduct six_bit_product = avx_vnni_six_bit_product;

}  // namespace pocketmt::avx_vnni
