#include "model/layers/network_base.h"

#include <cmath>

#include "model/weights/vectors.h"

namespace pocketmt {

NetworkBase::NetworkBase(const Kernels& table, const Architecture& described, const TensorSource& source)
    : kernels(table),
      architecture(described),
      quantizer(table, source.logarithmic_activations()),
      embedding(table, arena, source, "embedding.weight", described.vocabulary_size, described.model_dimension) {
    const size_t d = described.model_dimension;
    if (described.separate_embeddings) {
        own_source_embedding.emplace(table, arena, source, "source_embedding.weight", described.source_vocabulary_size,
                                     d);
    }
    if (!described.tied_output) own_output.emplace(table, arena, source, "output.weight", described.vocabulary_size, d);
    if (described.output_bias) output_bias = Vectors(table, source).values("output.bias", described.vocabulary_size);
}

float NetworkBase::embedding_scale() const {
    if (!architecture.scale_embeddings) return 1.0f;
    return static_cast<float>(std::sqrt(static_cast<double>(architecture.model_dimension)));
}

}  // namespace pocketmt
