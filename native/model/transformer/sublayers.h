// The residual stream and the feed-forward sub-layer, which encoder and decoder of a Transformer share.
#pragma once

#include <cstddef>
#include <vector>

#include "model/layers/workspace.h"
#include "model/transformer/transformer.h"

namespace pocketmt {

// x [count, d] of a stack of sub-layers, and the input of the next sub-layer: x in a post-norm network, normalized x in
// a pre-norm one.
class ResidualStream {
  public:
    // embedded: quantization of the first x.
    ResidualStream(const Transformer& network, Workspace& workspace, const std::vector<Norm>& norms,
                   const QuantizationParameters& embedded, size_t count);

    float* x() { return x_; }
    // To be called when x is filled with embedded pieces.
    void start();
    // x += update, with the normalization before or after it.
    void add(const float* update);
    // out [count, d] = values [count, d], normalized as the input of the next sub-layer; the values as they are in a
    // post-norm network.
    void normalize_like_input(const float* values, float* out) const;
    // Input of the next sub-layer [count, d]; after the last one, the output of the stack.
    const float* input() const { return input_; }
    Activations activations() const { return activations(0, count_); }
    // Of rows `first` to first + count - 1.
    Activations activations(size_t first, size_t count) const;

  private:
    // out = norm(update + residual), sum = update + residual; residual and sum may be null.
    void normalize(const float* update, const float* residual, float* sum, float* out);

    const Transformer& network_;
    Workspace& workspace_;
    const Norm* norm_;                     // the next one
    QuantizationParameters quantization_;  // of input
    size_t count_;
    float* x_;
    float* normed_;
    const float* input_;
};

// The output projection of attention, added to the stream. attended [count, a] is quantized in place.
void add_attention_output(const Transformer& network, Workspace& workspace, const Linear& output,
                          const QuantizationParameters& quantization, float* attended, size_t count, size_t a,
                          ResidualStream& stream);

// out [count, rows] = activate(linear(input)); activate null: relu.
void multiply_activated(const Linear& linear, Activations&& input, Activate activate, float* out);

// The feed-forward sub-layer of all rows of the stream.
void add_feed_forward(const Transformer& network, Workspace& workspace, const FeedForward& layer,
                      ResidualStream& stream, size_t count);

}  // namespace pocketmt
