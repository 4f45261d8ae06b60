// The base of all networks: one matrix embeds pieces and computes logits.
#pragma once

#include <cstddef>
#include <cstdint>
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

struct TiedNetwork {
    TiedNetwork(const Kernels& table, const Architecture& described, const TensorSource& source);

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
    OutputLayer output_layer() const { return {embedding, output_bias.empty() ? nullptr : output_bias.data()}; }
    // Factor of embedded pieces, sqrt(d).
    float embedding_scale() const;

    const Kernels& kernels;
    Architecture architecture;
    Quantizer quantizer;                         // of inputs of quantized matrices
    Arena arena;                                 // of all packed weights
    Matrix embedding;                            // [V, d]
    QuantizationParameters output_quantization;  // [d], of the input of the output projection
    std::vector<float> output_bias;              // [V], or empty
};

}  // namespace pocketmt
