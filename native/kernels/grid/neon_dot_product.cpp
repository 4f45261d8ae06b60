#include "grid/attention.h"
#include "grid/rows.h"
#include "tables.h"

namespace pocketmt::neon_dot_product {

const GridFunctions grid_functions = {snap, codes, grid_norm, attend_codes};

}  // namespace pocketmt::neon_dot_product
