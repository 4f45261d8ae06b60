#include "model/transformer/transformer.h"

#include <algorithm>
#include <utility>

namespace pocketmt {

namespace {

Activate activation_function(const VectorFunctions& functions, ActivationFunction chosen) {
    switch (chosen) {
        case ActivationFunction::swish:
            return functions.swish;
        case ActivationFunction::gelu:
            return functions.gelu;
        case ActivationFunction::gelu_tanh:
            return functions.gelu_tanh;
        case ActivationFunction::gelu_sigmoid:
            return functions.gelu_sigmoid;
        case ActivationFunction::relu:
            break;
    }
    return nullptr;
}

}  // namespace

Transformer::Transformer(const Kernels& table, const TransformerArchitecture& described, const TensorSource& source,
                         unsigned activation_bits)
    : NetworkBase(table, described, source),
      shape(described),
      activate(activation_function(table.vector, described.activation)),
      average_activate(activation_function(table.vector, described.average_attention_activation)),
      weights(table, arena, described, source, activation_bits),
      positions(table, described.positions, described.position_offset, described.model_dimension, weights.position) {
    output_quantization = weights.decoded;
    output_bias = with_offset(output_matrix(), output_quantization, std::move(output_bias));
}

size_t Transformer::state_size() const {
    return shape.state_elements() * (weights.attends_to_codes ? sizeof(int8_t) : sizeof(float));
}

void Transformer::embed(const Matrix& embeddings, std::optional<uint32_t> piece, const float* position,
                        float* out) const {
    const size_t d = architecture.model_dimension;
    if (!piece) {
        std::copy_n(position, d, out);
        return;
    }
    embeddings.unpack_row(*piece, out);
    kernels.vector.scale_add(out, embedding_scale(), position, d, out);
}

}  // namespace pocketmt
