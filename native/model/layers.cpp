#include "model/layers.h"

#include <algorithm>
#include <cmath>

namespace pocketmt {

namespace {

// Rows of the feed-forward done at a time: what lies between its two matrices stays in the second-level cache.
constexpr size_t feed_forward_rows = 128;

}  // namespace

ResidualStream::ResidualStream(const Network& network, Workspace& workspace, const std::vector<Norm>& norms,
                               const Grid& embedded, size_t count)
    : network_(network),
      workspace_(workspace),
      norm_(norms.data()),
      grid_(embedded),
      count_(count),
      x_(workspace.x.ensure(count * network.architecture.model_dimension)),
      normed_(network.architecture.norm == NormPlace::pre
                  ? workspace.normed.ensure(count * network.architecture.model_dimension)
                  : nullptr),
      input_(normed_ == nullptr ? x_ : normed_) {}

void ResidualStream::start() {
    snap(network_.kernels, grid_, x_, count_, network_.architecture.model_dimension);
    if (normed_ != nullptr) normalize(x_, nullptr, nullptr, normed_);
}

void ResidualStream::add(const float* update) {
    float* sum = normed_ == nullptr ? nullptr : x_;
    normalize(update, x_, sum, normed_ == nullptr ? x_ : normed_);
}

void ResidualStream::normalize(const float* update, const float* residual, float* sum, float* out) {
    size_t d = network_.architecture.model_dimension;
    const float *gamma = norm_->gamma.data(), *beta = norm_->beta.data();
    if (norm_->grids.present()) {
        network_.kernels.grid.layer_norm(norm_->grids, update, residual, gamma, beta, count_, d, sum, out);
    } else {
        network_.kernels.vector.layer_norm(update, residual, gamma, beta, count_, d, sum, out);
    }
    grid_ = norm_->grids.output;
    ++norm_;
}

Activations ResidualStream::activations(size_t first, size_t count) const {
    size_t d = network_.architecture.model_dimension;
    return Activations(network_.quantizer, workspace_.product, input_ + first * d, count, d, grid_);
}

void embed(const Network& network, uint32_t token, const float* position, float* out) {
    size_t dimension = network.architecture.model_dimension;
    float factor = static_cast<float>(std::sqrt(static_cast<double>(dimension)));
    network.weights.embedding.unpack_row(token, out);
    network.kernels.vector.scale_add(out, factor, position, dimension, out);
}

Activations output_activations(const Network& network, Workspace& workspace, const float* decoded, size_t count) {
    return Activations(network.quantizer, workspace.product, decoded, count, network.architecture.model_dimension,
                       network.weights.decoded);
}

OutputLayer output_layer(const Network& network) {
    const std::vector<float>& bias = network.weights.output_bias;
    return {network.weights.embedding, bias.empty() ? nullptr : bias.data()};
}

void add_feed_forward(const Network& network, Workspace& workspace, const FeedForward& layer, ResidualStream& stream,
                      size_t count) {
    size_t d = network.architecture.model_dimension, f = layer.nodes;
    float* update = workspace.update.ensure(count * d);
    float* inner = workspace.inner.ensure(std::min(count, feed_forward_rows) * f);
    for (size_t first = 0; first < count; first += feed_forward_rows) {
        size_t rows = std::min(feed_forward_rows, count - first);
        layer.inner.multiply(stream.activations(first, rows), inner, true);
        snap(network.kernels, layer.activated, inner, rows, f);
        layer.outer.multiply(Activations(network.quantizer, workspace.product, inner, rows, f, layer.activated),
                             update + first * d);
    }
    snap(network.kernels, layer.update, update, count, d);
    stream.add(update);
}

}  // namespace pocketmt
