// The table of vector functions.
#include "instruction_set.h"
#include "vector/activations.h"
#include "vector/attention.h"
#include "vector/average_attention.h"
#include "vector/cache_attention.h"
#include "vector/elementwise.h"
#include "vector/log_quantization.h"
#include "vector/lstm_unit.h"
#include "vector/recurrent_unit.h"
#include "vector/search.h"

namespace pocketmt::POCKETMT_INSTRUCTION_SET {

constinit const VectorFunctions vector_functions = {.quantize_rows = quantize_rows,
                                                    .quantize_rows_static = quantize_rows_static,
                                                    .quantize_rows_logarithmic = quantize_rows_logarithmic,
                                                    .layer_norm = layer_norm,
                                                    .scale_add = scale_add,
                                                    .swish = swish,
                                                    .gelu = gelu,
                                                    .gelu_tanh = gelu_tanh,
                                                    .gelu_sigmoid = gelu_sigmoid,
                                                    .transpose_keys = transpose_keys,
                                                    .attend = attend,
                                                    .attend_cache = attend_cache,
                                                    .recurrent_unit = recurrent_unit,
                                                    .running_mean = running_mean,
                                                    .gated_sum = gated_sum,
                                                    .lstm_unit = lstm_unit,
                                                    .log_sum_exp = log_sum_exp,
                                                    .top_k = top_k};

}  // namespace pocketmt::POCKETMT_INSTRUCTION_SET
