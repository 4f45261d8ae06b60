#include "model/transformer/transformer.h"

namespace pocketmt {

Transformer::Transformer(const Kernels& table, const TransformerArchitecture& described, const TensorSource& source,
                         unsigned activation_bits)
    : TiedNetwork(table, described, source),
      shape(described),
      weights(table, arena, described, source, activation_bits),
      positions(table, described.positions, described.model_dimension, weights.position) {
    output_quantization = weights.decoded;
    output_bias = with_offset(embedding, output_quantization, {});
}

size_t Transformer::state_size() const {
    return shape.state_elements() * (weights.attends_to_codes ? sizeof(int8_t) : sizeof(float));
}

void Transformer::embed(uint32_t piece, const float* position, float* out) const {
    embedding.unpack_row(piece, out);
    kernels.vector.scale_add(out, embedding_scale(), position, architecture.model_dimension, out);
}

}  // namespace pocketmt
