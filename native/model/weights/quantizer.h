// Quantization of the activations of products with quantized weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/kernels.h"

namespace pocketmt {

// Quantization to a fixed log scale (Aji and Heafield 2020, section 3.5): `scale` is the largest magnitude, and `top`
// is the largest magnitude in units of the smallest.
struct LogarithmicActivations {
    float top;
    float scale;
};

// Quantizes to 8 bits with a scale for each row or a calibrated one, to a fixed log scale, or within a trained range.
class Quantizer {
  public:
    Quantizer(const Kernels& kernels, const std::optional<LogarithmicActivations>& logarithmic)
        : kernels_(kernels), logarithmic_(logarithmic) {}

    // values [count, columns] -> codes [count, stride], scales [count].
    void quantize(const float* values, size_t count, size_t columns, int8_t* codes, float* scales,
                  size_t stride) const {
        const VectorFunctions& vector = kernels_.vector;
        if (logarithmic_) {
            vector.quantize_rows_logarithmic(values, columns, count, columns, logarithmic_->top, logarithmic_->scale,
                                             codes, scales, stride);
        } else {
            vector.quantize_rows(values, columns, count, columns, codes, scales, stride);
        }
    }

    // values [count, columns] -> codes [count, stride] at a calibrated scale; scales [count] are all the same.
    void quantize_static(float scale, const float* values, size_t count, size_t columns, int8_t* codes, float* scales,
                         size_t stride) const {
        kernels_.vector.quantize_rows_static(values, columns, count, columns, 1.0f / scale, codes, stride);
        std::fill_n(scales, count, scale);
    }

    // values [count, columns] -> their codes in a trained range, which all elements share.
    void quantize_in_range(const QuantizationParameters& parameters, const float* values, size_t count, size_t columns,
                           int8_t* codes, float* scales, size_t stride) const {
        kernels_.fake_quantization.quantize(parameters, values, columns, count, columns, codes, stride);
        std::fill_n(scales, count, parameters.scales[0]);
    }

  private:
    const Kernels& kernels_;
    const std::optional<LogarithmicActivations> logarithmic_;
};

}  // namespace pocketmt
