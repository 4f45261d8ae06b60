#include "tables.h"
#include "vector/functions.h"

namespace pocketmt::avx512_vnni {

const VectorFunctions vector_functions = every_vector_function;

}  // namespace pocketmt::avx512_vnni
