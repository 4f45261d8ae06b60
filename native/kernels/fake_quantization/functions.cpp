// The table of functions of activations with trained ranges.
#include "fake_quantization/attention.h"
#include "fake_quantization/rows.h"
#include "instruction_set.h"

namespace pocketmt::POCKETMT_INSTRUCTION_SET {

constinit const FakeQuantizationFunctions fake_quantization_functions = {
    .fake_quantize = fake_quantize, .quantize = quantize, .layer_norm = quantized_layer_norm, .attend = attend_codes};

}  // namespace pocketmt::POCKETMT_INSTRUCTION_SET
