#include "model/layers.h"

#include <algorithm>
#include <cmath>

namespace pocketmt {

namespace {

// Rows of the feed-forward done at a time: what lies between its two matrices stays in the second-level cache.
constexpr size_t feed_forward_rows = 128;

}  // namespace

ResidualStream::ResidualStream(const Network& network, Workspace& workspace, const std::vector<Norm>& norms,
                               size_t count)
    : network_(network),
      workspace_(workspace),
      norm_(norms.data()),
      count_(count),
      x_(workspace.x.ensure(count * network.architecture.model_dimension)),
      normed_(network.architecture.norm == NormPlace::pre
                  ? workspace.normed.ensure(count * network.architecture.model_dimension)
                  : nullptr),
      input_(normed_ == nullptr ? x_ : normed_) {}

void ResidualStream::start() {
    if (normed_ == nullptr) return;
    network_.kernels.vector.layer_norm(x_, nullptr, norm_->gamma.data(), norm_->beta.data(), count_,
                                       network_.architecture.model_dimension, nullptr, normed_);
    ++norm_;
}

void ResidualStream::add(const float* update) {
    float* sum = normed_ == nullptr ? nullptr : x_;
    float* out = normed_ == nullptr ? x_ : normed_;
    network_.kernels.vector.layer_norm(update, x_, norm_->gamma.data(), norm_->beta.data(), count_,
                                       network_.architecture.model_dimension, sum, out);
    ++norm_;
}

Activations ResidualStream::activations() const {
    return Activations(network_.quantizer, workspace_.product, input_, count_, network_.architecture.model_dimension);
}

void embed(const Network& network, uint32_t token, const float* position, float* out) {
    size_t dimension = network.architecture.model_dimension;
    float factor = static_cast<float>(std::sqrt(static_cast<double>(dimension)));
    network.weights.embedding.unpack_row(token, out);
    network.kernels.vector.scale_add(out, factor, position, dimension, out);
}

void add_feed_forward(const Network& network, Workspace& workspace, const FeedForward& layer, ResidualStream& stream,
                      size_t count) {
    size_t d = network.architecture.model_dimension, f = network.architecture.feed_forward_dimension;
    float* update = workspace.update.ensure(count * d);
    float* inner = workspace.inner.ensure(std::min(count, feed_forward_rows) * f);
    for (size_t first = 0; first < count; first += feed_forward_rows) {
        size_t rows = std::min(feed_forward_rows, count - first);
        layer.inner.multiply(Activations(network.quantizer, workspace.product, stream.input() + first * d, rows, d),
                             inner, true);
        layer.outer.multiply(Activations(network.quantizer, workspace.product, inner, rows, f), update + first * d);
    }
    stream.add(update);
}

}  // namespace pocketmt
