// AVX-VNNI's products in the encoding of AVX-512: the same source for a CPU that has that alone.
#pragma once

#include "kernels/kernels.h"

namespace pocketmt::testing::imitated_avx_vnni {

extern const IntegerProduct integer_product;
extern const IntegerProduct six_bit_product;
extern const LevelTableProduct level_table_product;
extern const LevelTableProduct row_table_product;

}  // namespace pocketmt::testing::imitated_avx_vnni
