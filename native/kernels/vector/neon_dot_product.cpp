#include "tables.h"
#include "vector/functions.h"

namespace pocketmt::neon_dot_product {

const VectorFunctions vector_functions = every_vector_function;

}  // namespace pocketmt::neon_dot_product
