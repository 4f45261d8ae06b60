// All vector functions, compiled anew for the instruction set of each file that includes this.
#pragma once

#include "kernels.h"
#include "vector/attention.h"
#include "vector/cache_attention.h"
#include "vector/elementwise.h"
#include "vector/log_quantization.h"
#include "vector/lstm_unit.h"
#include "vector/recurrent_unit.h"
#include "vector/search.h"

namespace pocketmt {
namespace {

constexpr VectorFunctions every_vector_function = {quantize_rows,
                                                   quantize_rows_static,
                                                   quantize_rows_logarithmic,
                                                   layer_norm,
                                                   add,
                                                   scale_add,
                                                   transpose_keys,
                                                   attend_memory,
                                                   attend_cache,
                                                   recurrent_unit,
                                                   lstm_unit,
                                                   log_sum_exp,
                                                   top_k};

}  // namespace
}  // namespace pocketmt
