// One step of the decoder, for all live hypotheses.
#include <algorithm>

#include "model/layers/attention_weights.h"
#include "model/lstm/lstm.h"

namespace pocketmt {

namespace {

class Step {
  public:
    Step(const Lstm& network, Workspace& workspace, std::span<const DecoderRow> rows, size_t position)
        : network_(network),
          workspace_(workspace),
          rows_(rows),
          position_(position),
          d_(network.architecture.model_dimension),
          h_(network.h),
          x_(workspace.x.ensure(rows.size() * h_)),
          update_(workspace.update.ensure(rows.size() * h_)) {}

    const float* run() {
        const LstmWeights& weights = network_.weights;
        float* embedded = workspace_.normed.ensure(rows_.size() * d_);
        for (size_t row = 0; row < rows_.size(); ++row) network_.embed(*rows_[row].token, embedded + row * d_);
        for (size_t index = 0; index < weights.decoder.size(); ++index) {
            const RecurrentLayer& layer = weights.decoder[index];
            advance(layer.unit, index == 0 ? embedded : x_, index == 0 ? d_ : h_, index * 2 * h_);
            network_.normalize(layer.norm, update_, index > 0, rows_.size(), x_);
            if (index == 0) attend();
        }
        float* decoded = workspace_.inner.ensure(rows_.size() * d_);
        weights.readout.multiply(network_.activations(workspace_, x_, rows_.size(), h_), decoded);
        return decoded;
    }

  private:
    // Hidden state, then cell, of the layer whose elements begin at `first` in a decoder state.
    float* state(size_t row, size_t position, size_t first) const {
        return reinterpret_cast<float*>(rows_[row].states[position]) + first;
    }

    // One step of an LSTM: x [rows, inputs] -> update_ [rows, h], and the states of this position.
    void advance(const LstmUnit& unit, const float* x, size_t inputs, size_t first) {
        float* given = workspace_.projected.ensure(rows_.size() * 4 * h_);
        float* recurrent = workspace_.recurrent.ensure(rows_.size() * 4 * h_);
        unit.input.multiply(network_.activations(workspace_, x, rows_.size(), inputs), given);
        const bool begins = position_ == 0;
        if (!begins) {
            float* hidden = workspace_.hidden.ensure(rows_.size() * h_);
            for (size_t row = 0; row < rows_.size(); ++row)
                std::copy_n(state(row, position_ - 1, first), h_, hidden + row * h_);
            unit.recurrent.multiply(network_.activations(workspace_, hidden, rows_.size(), h_), recurrent);
        }
        for (size_t row = 0; row < rows_.size(); ++row) {
            float* after = state(row, position_, first);
            network_.kernels.vector.lstm_unit(given + row * 4 * h_, begins ? nullptr : recurrent + row * 4 * h_,
                                              begins ? nullptr : state(row, position_ - 1, first) + h_, h_, after + h_,
                                              after);
            std::copy_n(after, h_, update_ + row * h_);
        }
    }

    // x = LN(x + attention of x to the source).
    void attend() {
        const CrossAttention& attention = network_.weights.cross_attention;
        const size_t a = attention.query.matrix.rows(), rows = rows_.size();
        float* queries = workspace_.projected.ensure(rows * a);
        float* attended = workspace_.attended.ensure(rows * a);
        attention.query.multiply(network_.activations(workspace_, x_, rows, h_), queries);
        attend_to_source(network_, workspace_, rows_, 0, attention.heads, queries, attended);
        add_attention(network_, attention, false, rows_, 0, queries, 1);
        attention.output.multiply(network_.activations(workspace_, attended, rows, a), update_);
        network_.normalize(network_.weights.cross_attention_norm, update_, true, rows, x_);
    }

    const Lstm& network_;
    Workspace& workspace_;
    std::span<const DecoderRow> rows_;
    size_t position_;
    size_t d_;
    size_t h_;
    float* x_;
    float* update_;
};

}  // namespace

const float* Lstm::decode_step(Workspace& workspace, std::span<const DecoderRow> rows, size_t position) const {
    return Step(*this, workspace, rows, position).run();
}

}  // namespace pocketmt
