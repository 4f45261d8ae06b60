// The base of all networks: the matrices that embed pieces and that compute logits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/kernels.h"
#include "model/description/architecture.h"
#include "model/layers/workspace.h"
#include "model/output/output_layer.h"
#include "model/runtime/arena.h"
#include "model/weights/matrix.h"
#include "model/weights/quantizer.h"
#include "model/weights/tensor_source.h"

namespace pocketmt {

struct NetworkBase {
    NetworkBase(const Kernels& table, const Architecture& described, const TensorSource& source);

    // Rows of values as the input of a product. Valid until the next Activations is made on the same workspace.
    Activations activations(Workspace& workspace, const float* values, size_t count, size_t columns,
                            const QuantizationParameters& quantization = {}) const {
        return Activations(quantizer, workspace.product, values, count, columns, quantization);
    }
    // Rows of the decoder's output [count, d] as the input of the output projection.
    Activations output_activations(Workspace& workspace, const float* decoded, size_t count) const {
        return activations(workspace, decoded, count, architecture.model_dimension, output_quantization);
    }
    // The output projection to the whole vocabulary.
    OutputLayer output_layer() const { return {output_matrix(), output_bias.empty() ? nullptr : output_bias.data()}; }
    // A row for each piece of the source.
    const Matrix& source_embedding() const { return own_source_embedding ? *own_source_embedding : embedding; }
    // A row for each piece of the target; before bias.
    const Matrix& output_matrix() const { return own_output ? *own_output : embedding; }
    // Factor of embedded pieces.
    float embedding_scale() const;

    const Kernels& kernels;
    Architecture architecture;
    Quantizer quantizer;                         // of inputs of quantized matrices
    Arena arena;                                 // of all packed weights
    Matrix embedding;                            // [V, d], of the target
    std::optional<Matrix> own_source_embedding;  // [V of the source, d]; none: `embedding` is used
    std::optional<Matrix> own_output;            // [V, d]; none: `embedding` is used
    QuantizationParameters output_quantization;  // [d], of the input of the output projection
    std::vector<float> output_bias;              // [V], or empty
};

}  // namespace pocketmt
