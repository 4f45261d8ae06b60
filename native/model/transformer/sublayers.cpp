#include "model/transformer/sublayers.h"

#include <algorithm>

#include "model/weights/activation_ranges.h"

namespace pocketmt {

namespace {

// Rows of the feed-forward network computed at a time: the elements between its matrices stay in the second-level
// cache.
constexpr size_t feed_forward_rows = 128;

}  // namespace

ResidualStream::ResidualStream(const Transformer& network, Workspace& workspace, const std::vector<Norm>& norms,
                               const QuantizationParameters& embedded, size_t count)
    : network_(network),
      workspace_(workspace),
      norm_(norms.data()),
      quantization_(embedded),
      count_(count),
      x_(workspace.x.ensure(count * network.architecture.model_dimension)),
      normed_(network.shape.norm == NormPlace::pre
                  ? workspace.normed.ensure(count * network.architecture.model_dimension)
                  : nullptr),
      input_(normed_ == nullptr ? x_ : normed_) {}

void ResidualStream::start() {
    fake_quantize(network_.kernels, quantization_, x_, count_, network_.architecture.model_dimension);
    if (network_.shape.embedding_norm) normalize(x_, nullptr, nullptr, x_);
    if (normed_ != nullptr) normalize(x_, nullptr, nullptr, normed_);
}

void ResidualStream::add(const float* update) {
    float* sum = normed_ == nullptr ? nullptr : x_;
    normalize(update, x_, sum, normed_ == nullptr ? x_ : normed_);
}

void ResidualStream::normalize(const float* update, const float* residual, float* sum, float* out) {
    const size_t d = network_.architecture.model_dimension;
    const float epsilon = network_.architecture.normalization_epsilon;
    const float *gamma = norm_->gamma.data(), *beta = norm_->beta.data();
    if (norm_->quantization.present()) {
        network_.kernels.fake_quantization.layer_norm(norm_->quantization, update, residual, gamma, beta, epsilon,
                                                      count_, d, sum, out);
    } else {
        network_.kernels.vector.layer_norm(update, residual, gamma, beta, epsilon, count_, d, sum, out);
    }
    quantization_ = norm_->quantization.output;
    ++norm_;
}

void ResidualStream::normalize_like_input(const float* values, float* out) const {
    const size_t d = network_.architecture.model_dimension;
    if (normed_ == nullptr) {
        std::copy_n(values, count_ * d, out);
        return;
    }
    const Norm& norm = norm_[-1];
    network_.kernels.vector.layer_norm(values, nullptr, norm.gamma.data(), norm.beta.data(),
                                       network_.architecture.normalization_epsilon, count_, d, nullptr, out);
}

Activations ResidualStream::activations(size_t first, size_t count) const {
    const size_t d = network_.architecture.model_dimension;
    return network_.activations(workspace_, input_ + first * d, count, d, quantization_);
}

void add_attention_output(const Transformer& network, Workspace& workspace, const Linear& output,
                          const QuantizationParameters& quantization, float* attended, size_t count, size_t a,
                          ResidualStream& stream) {
    float* update = workspace.update.ensure(count * network.architecture.model_dimension);
    fake_quantize(network.kernels, quantization, attended, count, a);
    output.multiply(network.activations(workspace, attended, count, a, quantization), update);
    stream.add(update);
}

void multiply_activated(const Linear& linear, Activations&& input, Activate activate, float* out) {
    linear.multiply(input, out, activate == nullptr ? Activation::relu : Activation::none);
    if (activate != nullptr) activate(input.count() * linear.matrix.rows(), out);
}

void add_feed_forward(const Transformer& network, Workspace& workspace, const FeedForward& layer,
                      ResidualStream& stream, size_t count) {
    const size_t d = network.architecture.model_dimension, f = layer.nodes;
    float* update = workspace.update.ensure(count * d);
    float* inner = workspace.inner.ensure(std::min(count, feed_forward_rows) * f);
    for (size_t first = 0; first < count; first += feed_forward_rows) {
        const size_t rows = std::min(feed_forward_rows, count - first);
        multiply_activated(layer.inner, stream.activations(first, rows), network.activate, inner);
        fake_quantize(network.kernels, layer.activated, inner, rows, f);
        layer.outer.multiply(network.activations(workspace, inner, rows, f, layer.activated), update + first * d);
    }
    fake_quantize(network.kernels, layer.update, update, count, d);
    stream.add(update);
}

}  // namespace pocketmt
