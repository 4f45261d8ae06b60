// From the sums of a product to memory, written once on the registers of each instruction set.
#pragma once

#include "kernels.h"
#include "shapes.h"

namespace pocketmt {
namespace {

// Writes relu(value + bias) of the outputs from `output` on, of which `valid` exist, to `out`, where they begin.
template <class Registers>
POCKETMT_INLINE void store_outputs(const Epilogue& epilogue, size_t output, size_t valid,
                                   typename Registers::Floats value, float* out) {
    if (epilogue.bias) value = value + Registers::load_first(epilogue.bias + output, valid);
    if (epilogue.relu) value = Registers::positive(value);
    Registers::store_first(out, valid, value);
}

// value + sum(activations) * offset of the outputs from `output` on, of which `valid` exist.
template <class Registers>
POCKETMT_INLINE typename Registers::Floats add_offsets(const Epilogue& epilogue, size_t output, size_t valid,
                                                       int32_t activation_sum, float activation_scale,
                                                       typename Registers::Floats value) {
    if (!epilogue.offsets) return value;
    const auto offsets =
        Registers::broadcast(activation_scale) * Registers::load_first(epilogue.offsets + output, valid);
    return value + Registers::broadcast(static_cast<float>(activation_sum)) * offsets;
}

// Both, for a row of activations of a quantized product, at its place among `rows` outputs; nothing beyond them.
template <class Registers>
POCKETMT_INLINE void store_quantized(const Epilogue& epilogue, const Outputs& outputs, size_t rows, size_t row,
                                     size_t output, int32_t activation_sum, float activation_scale,
                                     typename Registers::Floats value) {
    if (output >= rows) return;
    const size_t valid = rows - output;
    value = add_offsets<Registers>(epilogue, output, valid, activation_sum, activation_scale, value);
    store_outputs<Registers>(epilogue, output, valid, value,
                             outputs.values + row * outputs.stride + (output - outputs.first));
}

}  // namespace
}  // namespace pocketmt
