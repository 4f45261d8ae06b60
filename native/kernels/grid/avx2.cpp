#include "grid/attention.h"
#include "grid/rows.h"
#include "tables.h"

namespace pocketmt::avx2 {

const GridFunctions grid_functions = {snap, codes, grid_norm, attend_codes};

}  // namespace pocketmt::avx2
