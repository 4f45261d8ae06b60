// The function applied to each output of a product.
#pragma once

namespace pocketmt {

enum class Activation { none, relu };

namespace {

// relu: 0 unless the value is positive.
inline float activated(Activation activation, float value) {
    return activation == Activation::relu && !(value > 0.0f) ? 0.0f : value;
}

}  // namespace
}  // namespace pocketmt
