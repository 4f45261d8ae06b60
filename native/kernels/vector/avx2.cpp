#include "tables.h"
#include "vector/functions.h"

namespace pocketmt::avx2 {

const VectorFunctions vector_functions = every_vector_function;

}  // namespace pocketmt::avx2
