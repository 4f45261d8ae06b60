#include "model/layers/tied_network.h"

#include <cmath>

namespace pocketmt {

TiedNetwork::TiedNetwork(const Kernels& table, const Architecture& described, const TensorSource& source)
    : kernels(table),
      architecture(described),
      quantizer(table, source.logarithmic_activations()),
      embedding(table, arena, source, "embedding.weight", described.vocabulary_size, described.model_dimension) {}

float TiedNetwork::embedding_scale() const {
    return static_cast<float>(std::sqrt(static_cast<double>(architecture.model_dimension)));
}

}  // namespace pocketmt
