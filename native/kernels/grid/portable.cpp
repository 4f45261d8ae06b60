#include "grid/attention.h"
#include "grid/rows.h"
#include "tables.h"

namespace pocketmt::portable {

const GridFunctions grid_functions = {snap, codes, grid_norm, attend_codes};

}  // namespace pocketmt::portable
