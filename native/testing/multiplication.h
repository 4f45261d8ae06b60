// What the products are tested with: arguments that end where memory that cannot be read begins.
#pragma once

#include <cstring>
#include <optional>

#include "kernels/shapes.h"
#include "testing/arrays.h"
#include "testing/made_products.h"

namespace pocketmt::testing {

using PerRow = std::optional<Array<float, 1>>;

// An epilogue whose arrays are fenced.
class FencedEpilogue {
  public:
    FencedEpilogue(const PerRow& bias, bool relu, const PerRow& offsets, size_t rows) : relu_(relu) {
        require(!bias || bias->shape(0) == rows, "a bias for each row of the matrix");
        require(!offsets || offsets->shape(0) == rows, "an offset for each row of the matrix");
        if (bias) bias_.emplace(bias->data(), 1, rows, 0);
        if (offsets) offsets_.emplace(offsets->data(), 1, rows, 0);
    }
    Epilogue view() const { return {bias_ ? bias_->data() : nullptr, relu_, offsets_ ? offsets_->data() : nullptr}; }

  private:
    std::optional<FencedRows<float>> bias_, offsets_;
    bool relu_;
};

// multiply(activations, count, outputs) -> [count, rows].
template <class Multiply>
NumPyArray<float> multiply_quantized(const Array<int8_t, 2>& codes, const Array<float, 1>& scales, size_t rows,
                                     size_t columns, size_t gap, Multiply&& multiply) {
    const size_t count = codes.shape(0);
    require(count > 0 && codes.shape(1) == columns, "activation codes [count, columns]");
    require(scales.shape(0) == count, "a scale for each row of activations");
    const size_t stride = round_up(columns, activation_alignment);
    const FencedRows<int8_t> padded(count, stride, 0);
    std::memset(padded.data(), 0, count * stride);
    for (size_t row = 0; row < count; ++row) std::memcpy(padded.row(row), codes.data() + row * columns, columns);
    const FencedRows<float> fenced_scales = fenced(scales);
    const QuantizedActivations activations{padded.data(), fenced_scales.data(), stride};
    const auto products =
        made_products(count, rows, gap, [&](const Outputs& outputs) { multiply(activations, count, outputs); });
    return to_numpy(products, {count, rows});
}

}  // namespace pocketmt::testing
