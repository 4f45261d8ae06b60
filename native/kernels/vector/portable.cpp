#include "tables.h"
#include "vector/functions.h"

namespace pocketmt::portable {

const VectorFunctions vector_functions = every_vector_function;

}  // namespace pocketmt::portable
