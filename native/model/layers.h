// What encoder and decoder share: the residual stream, the embedding and the feed-forward sub-layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/monitor.h"
#include "model/network.h"
#include "model/workspace.h"

namespace pocketmt {

// x of a stack of sub-layers, [count, d] in the workspace, and what the next sub-layer reads of it: x itself in a
// post-norm network, x normed in a pre-norm one.
class ResidualStream {
  public:
    // embedded: the grid of what x starts with.
    ResidualStream(const Network& network, Workspace& workspace, const std::vector<Norm>& norms, const Grid& embedded,
                   size_t count);

    float* x() { return x_; }
    // To be called once x is filled.
    void start();
    // x += update, with the norm that comes before or after it.
    void add(const float* update);
    // [count, d]; after the last sub-layer: the stack's output.
    const float* input() const { return input_; }
    Activations activations() const { return activations(0, count_); }
    // Of some rows.
    Activations activations(size_t first, size_t count) const;

  private:
    // out = norm(update + residual), sum = update + residual; residual and sum may be null.
    void normalize(const float* update, const float* residual, float* sum, float* out);

    const Network& network_;
    Workspace& workspace_;
    const Norm* norm_;
    Grid grid_;  // of input
    size_t count_;
    float* x_;
    float* normed_;
    const float* input_;
};

// out [d] = embedding of `token` * sqrt(d) + `position` [d].
void embed(const Network& network, uint32_t token, const float* position, float* out);

// Rows of the decoder's output [count, d], as the output matrix meets them.
Activations output_activations(const Network& network, Workspace& workspace, const float* decoded, size_t count);

// What makes logits of rows of the decoder's output: a row of the matrix for each piece.
struct OutputLayer {
    const Matrix& matrix;
    const float* bias;  // null: there is none
};
// That of the whole vocabulary.
OutputLayer output_layer(const Network& network);

// The feed-forward sub-layer of every row of the stream.
void add_feed_forward(const Network& network, Workspace& workspace, const FeedForward& layer, ResidualStream& stream,
                      size_t count);

}  // namespace pocketmt
