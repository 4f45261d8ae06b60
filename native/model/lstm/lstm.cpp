#include "model/lstm/lstm.h"

namespace pocketmt {

Lstm::Lstm(const Kernels& table, const LstmArchitecture& described, const TensorSource& source)
    : NetworkBase(table, described, source),
      h(described.recurrent_dimension),
      weights(load_lstm(table, arena, described, source)) {}

void Lstm::embed(uint32_t piece, float* out) const {
    embedding.unpack_row(piece, out);
    const float factor = embedding_scale();
    for (size_t i = 0; i < architecture.model_dimension; ++i) out[i] *= factor;
}

void Lstm::normalize(const Norm& norm, const float* update, bool residual, size_t rows, float* x) const {
    kernels.vector.layer_norm(update, residual ? x : nullptr, norm.gamma.data(), norm.beta.data(),
                              architecture.normalization_epsilon, rows, h, nullptr, x);
}

}  // namespace pocketmt
