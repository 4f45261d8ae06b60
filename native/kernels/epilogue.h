// The epilogue of a product: from its sums to memory, in the operations of the reference.
#pragma once

#include "product.h"
#include "registers.h"
#include "shapes.h"

namespace pocketmt {
namespace {

// activation(value), lane by lane.
POCKETMT_INLINE Registers::Floats activated(Activation activation, Registers::Floats value) {
    return activation == Activation::relu ? Registers::positive(value) : value;
}

// Writes activation(value + bias) of the outputs from `output` on, of which `valid` exist, to `out`, where they begin.
POCKETMT_INLINE void store_outputs(const Epilogue& epilogue, size_t output, size_t valid, Registers::Floats value,
                                   float* out) {
    if (epilogue.bias) value = value + Registers::load_first(epilogue.bias + output, valid);
    Registers::store_first(out, valid, activated(epilogue.activation, value));
}

// value + sum(activations) * offset of the outputs from `output` on, of which `valid` exist.
POCKETMT_INLINE Registers::Floats add_offsets(const Epilogue& epilogue, size_t output, size_t valid,
                                              int32_t activation_sum, float activation_scale, Registers::Floats value) {
    if (!epilogue.offsets) return value;
    const auto offsets =
        Registers::broadcast(activation_scale) * Registers::load_first(epilogue.offsets + output, valid);
    return value + Registers::broadcast(static_cast<float>(activation_sum)) * offsets;
}

// Both, for one row of activations of a quantized product with `rows` outputs. Writes nothing beyond them.
POCKETMT_INLINE void store_quantized(const Epilogue& epilogue, const Outputs& outputs, size_t rows, size_t row,
                                     size_t output, int32_t activation_sum, float activation_scale,
                                     Registers::Floats value) {
    if (output >= rows) return;
    const size_t valid = rows - output;
    value = add_offsets(epilogue, output, valid, activation_sum, activation_scale, value);
    store_outputs(epilogue, output, valid, value, outputs.values + row * outputs.stride + (output - outputs.first));
}

}  // namespace
}  // namespace pocketmt
