// How activations become codes where they meet weights that are integers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/kernels.h"

namespace pocketmt {

// Activations on a fixed log scale ([L5]): `top`, the largest magnitude in units of the smallest, stands for `scale`.
struct LogarithmicActivations {
    float top;
    float scale;
};

// 8 bits with a scale a row or a calibrated one, or on a fixed log scale; or the codes of a trained grid.
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

    // values on a grid that all elements share -> its codes.
    void code(const Grid& grid, const float* values, size_t count, size_t columns, int8_t* codes, float* scales,
              size_t stride) const {
        kernels_.grid.codes(grid, values, columns, count, columns, codes, stride);
        std::fill_n(scales, count, grid.scales[0]);
    }

  private:
    const Kernels& kernels_;
    const std::optional<LogarithmicActivations> logarithmic_;
};

}  // namespace pocketmt
