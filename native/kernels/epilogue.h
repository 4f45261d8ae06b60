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

// Out of line, because it is rare and long.
__attribute__((noinline)) static void store_some(float* to, size_t valid, Registers::Floats values) {
    Registers::store_first(to, valid, values);
}

// The outputs of one register, from `output` on, of which `valid` exist, and what the epilogue adds to them. Loaded
// once for the rows of activations of a tile: the compiler cannot know that storing results leaves the arguments of a
// product as they are, and would load them again for every row.
struct OutputLanes {
    Registers::Floats bias;     // -0 if there is none, because any value plus -0 is the value.
    Registers::Floats offsets;  // Read if has_offsets.
    Activation activation;
    bool has_offsets;
    size_t valid;
    float* values;  // Address of the first of these outputs of the first row.
    size_t stride;

    POCKETMT_INLINE OutputLanes(const Epilogue& epilogue, const Outputs& outputs, size_t rows, size_t first_row,
                                size_t output)
        : bias(Registers::broadcast(-0.0f)),
          offsets{},
          activation(epilogue.activation),
          has_offsets(epilogue.offsets != nullptr),
          valid(output < rows ? rows - output : 0),
          values(outputs.values + first_row * outputs.stride + output - outputs.first),
          stride(outputs.stride) {
        if (epilogue.bias) bias = Registers::load_first(epilogue.bias + output, valid);
        if (has_offsets) offsets = Registers::load_first(epilogue.offsets + output, valid);
    }

    POCKETMT_INLINE bool all_valid() const { return valid >= Registers::lanes; }
    // value + sum(activations) * offset.
    POCKETMT_INLINE Registers::Floats plus_offsets(Registers::Floats value, int32_t activation_sum,
                                                   float activation_scale) const {
        const auto sum = Registers::broadcast(static_cast<float>(activation_sum));
        return value + sum * (Registers::broadcast(activation_scale) * offsets);
    }
    // Writes activation(value + bias) of a row: of the outputs that exist, or of all lanes.
    template <bool all>
    POCKETMT_INLINE void store(size_t row, Registers::Floats value) const {
        const auto result = activated(activation, value + bias);
        if constexpr (all) {
            Registers::store(values + row * stride, result);
        } else {
            store_some(values + row * stride, valid, result);
        }
    }
};

// Stores the results of rows of activations, whose scales and sums are given. for_rows(body) calls body(row) for each
// row, and value(row, scale) is what row row() of that scale has in the lanes before the epilogue.
template <class ForRows, class Value>
POCKETMT_INLINE void store_quantized(const OutputLanes& lanes, const float* scales, const int32_t* activation_sums,
                                     const ForRows& for_rows, const Value& value) {
    const auto store_rows = [&](auto all, auto with_offsets) POCKETMT_INLINE_LAMBDA {
        for_rows([&](auto row) POCKETMT_INLINE_LAMBDA {
            auto result = value(row, scales[row()]);
            if (with_offsets()) result = lanes.plus_offsets(result, activation_sums[row()], scales[row()]);
            lanes.template store<all()>(row(), result);
        });
    };
    if (!lanes.all_valid()) {
        if (lanes.valid > 0) store_rows(Constant<0>{}, [&] { return lanes.has_offsets; });
    } else if (lanes.has_offsets) {
        store_rows(Constant<1>{}, Constant<1>{});
    } else {
        store_rows(Constant<1>{}, Constant<0>{});
    }
}

}  // namespace
}  // namespace pocketmt
