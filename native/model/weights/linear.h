// Linear layers and layer normalizations, packed for one instruction set.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/kernels.h"
#include "model/weights/matrix.h"

namespace pocketmt {

struct Norm {
    std::vector<float> gamma;
    std::vector<float> beta;
    NormQuantization quantization;
};

struct Linear {
    Matrix matrix;
    // Empty without a bias. Includes what the codes of a quantized input leave out, see `with_offset`.
    std::vector<float> bias;

    // out [count, rows], contiguous.
    void multiply(Activations& activations, float* out, Activation activation = Activation::none) const {
        matrix.multiply(activations, {bias.empty() ? nullptr : bias.data(), activation}, out, matrix.rows());
    }
    void multiply(Activations&& activations, float* out, Activation activation = Activation::none) const {
        multiply(activations, out, activation);
    }
};

// The bias of a layer whose input is quantized with `input`, one range for all elements: the product of codes leaves
// out the offset, sum_j w_j (offset + code_j scale) = scale sum_j w_j code_j + offset sum_j w_j.
std::vector<float> with_offset(const Matrix& matrix, const QuantizationParameters& input, std::vector<float> bias);

}  // namespace pocketmt
