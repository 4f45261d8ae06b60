// Where each kernel family of each instruction set is defined: one file a pair.
#pragma once

#include "kernels.h"

namespace pocketmt::portable {
extern const FloatProduct float_product;
extern const IntegerProduct integer_product;
extern const IntegerProduct six_bit_product;
extern const LevelTableProduct level_table_product;
extern const LevelTableProduct row_table_product;
extern const BitPlaneProduct bit_plane_product;
extern const VectorFunctions vector_functions;
extern const GridFunctions grid_functions;
}  // namespace pocketmt::portable

namespace pocketmt::avx2 {
extern const FloatProduct float_product;
extern const IntegerProduct integer_product;
extern const IntegerProduct six_bit_product;
extern const LevelTableProduct level_table_product;
extern const LevelTableProduct row_table_product;
extern const BitPlaneProduct bit_plane_product;
extern const VectorFunctions vector_functions;
extern const GridFunctions grid_functions;
}  // namespace pocketmt::avx2

// Its other kernels are those of avx2.
namespace pocketmt::avx_vnni {
extern const IntegerProduct integer_product;
extern const IntegerProduct six_bit_product;
extern const LevelTableProduct level_table_product;
extern const LevelTableProduct row_table_product;
}  // namespace pocketmt::avx_vnni

namespace pocketmt::avx512_vnni {
extern const FloatProduct float_product;
extern const IntegerProduct integer_product;
extern const IntegerProduct six_bit_product;
extern const LevelTableProduct level_table_product;
extern const LevelTableProduct row_table_product;
extern const BitPlaneProduct bit_plane_product;
extern const VectorFunctions vector_functions;
extern const GridFunctions grid_functions;
}  // namespace pocketmt::avx512_vnni

namespace pocketmt::neon_dot_product {
extern const FloatProduct float_product;
extern const IntegerProduct integer_product;
extern const IntegerProduct six_bit_product;
extern const LevelTableProduct level_table_product;
extern const LevelTableProduct row_table_product;
extern const BitPlaneProduct bit_plane_product;
extern const VectorFunctions vector_functions;
extern const GridFunctions grid_functions;
}  // namespace pocketmt::neon_dot_product
