#include "model/lstm.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "model/cross_attention.h"
#include "model/lstm_weights.h"

namespace pocketmt {

namespace {

// Steps of a recurrence between two looks at the monitor.
constexpr size_t steps = 16;

// What encoder and decoder share. Rows are tokens or hypotheses.
class LstmPart {
  protected:
    LstmPart(const Network& network, Workspace& workspace)
        : network_(network),
          workspace_(workspace),
          weights_(*network.lstm),
          d_(network.architecture.model_dimension),
          h_(network.architecture.lstm->dimension) {}

    // out [d] = embedding of `token` * sqrt(d).
    void embed(uint32_t token, float* out) const {
        network_.weights.embedding.unpack_row(token, out);
        float factor = static_cast<float>(std::sqrt(static_cast<double>(d_)));
        for (size_t i = 0; i < d_; ++i) out[i] *= factor;
    }

    Activations activations(const float* values, size_t rows, size_t columns) const {
        return Activations(network_.quantizer, workspace_.product, values, rows, columns);
    }

    // x = LN(update + x), or LN(update) where x is not read; [rows, h].
    void normalize(const Norm& norm, const float* update, bool residual, size_t rows, float* x) const {
        network_.kernels.vector.layer_norm(update, residual ? x : nullptr, norm.gamma.data(), norm.beta.data(), rows,
                                           h_, nullptr, x);
    }

    const Network& network_;
    Workspace& workspace_;
    const LstmWeights& weights_;
    size_t d_;
    size_t h_;
};

// Some sentences, encoded together, laid one after the other without padding.
class LstmGroup : LstmPart {
  public:
    LstmGroup(const Network& network, Workspace& workspace, std::span<const std::span<const uint32_t>> sources,
              std::span<const Memory> memories, Monitor& monitor)
        : LstmPart(network, workspace),
          sources_(sources),
          memories_(memories),
          monitor_(monitor),
          order_(memories.size()) {
        for (const Memory& memory : memories) {
            starts_.push_back(tokens_);
            tokens_ += memory.positions;
        }
        std::iota(order_.begin(), order_.end(), size_t{0});
        std::stable_sort(order_.begin(), order_.end(), [&](size_t left, size_t right) {
            return memories[left].positions > memories[right].positions;
        });
    }

    void run() {
        float* x = workspace_.x.ensure(tokens_ * h_);
        float* update = workspace_.update.ensure(tokens_ * h_);
        const float* embedded = embed_sources();
        read(weights_.directions[0], embedded, d_, false, update);
        read(weights_.directions[1], embedded, d_, true, update + h_ / 2);
        normalize(weights_.directions_norm, update, false, tokens_, x);
        for (const RecurrentLayer& layer : weights_.encoder) {
            read(layer.lstm, x, h_, false, update);
            normalize(layer.norm, update, true, tokens_, x);
        }
        const CrossAttention& attention = weights_.cross_attention;
        float* projected = workspace_.projected.ensure(tokens_ * attention.key_value.matrix.rows());
        attention.key_value.multiply(activations(x, tokens_, h_), projected);
        keep_keys_and_values(network_, memories_, 0, attention.heads, projected);
    }

  private:
    const float* embed_sources() {
        float* embedded = workspace_.normed.ensure(tokens_ * d_);
        float* next = embedded;
        for (std::span<const uint32_t> source : sources_) {
            for (uint32_t token : source) {
                embed(token, next);
                next += d_;
            }
            embed(eos_token, next);
            next += d_;
        }
        return embedded;
    }

    // x [tokens, inputs] -> hidden states, `out` [tokens, size], rows h apart. Sentences are read side by side, the
    // longest first: those that are not at their end yet are always the first rows.
    void read(const Lstm& lstm, const float* x, size_t inputs, bool backwards, float* out) {
        size_t size = lstm.size, sentences = order_.size();
        float* given = workspace_.projected.ensure(tokens_ * 4 * size);
        float* recurrent = workspace_.recurrent.ensure(sentences * 4 * size);
        float* hidden = workspace_.hidden.ensure(sentences * size);
        float* cells = workspace_.cells.ensure(sentences * size);
        lstm.input.multiply(activations(x, tokens_, inputs), given);
        size_t rows = sentences;
        for (size_t step = 0; rows > 0; ++step) {
            if (step > 0) lstm.recurrent.multiply(activations(hidden, rows, size), recurrent);
            for (size_t row = 0; row < rows; ++row) {
                size_t last = memories_[order_[row]].positions - 1;
                size_t token = starts_[order_[row]] + (backwards ? last - step : step);
                float* cell = cells + row * size;
                network_.kernels.vector.lstm_unit(given + token * 4 * size,
                                                  step > 0 ? recurrent + row * 4 * size : nullptr,
                                                  step > 0 ? cell : nullptr, size, cell, hidden + row * size);
                std::copy_n(hidden + row * size, size, out + token * h_);
            }
            while (rows > 0 && memories_[order_[rows - 1]].positions == step + 1) --rows;
            if (step % steps == 0) monitor_.check();
        }
    }

    std::span<const std::span<const uint32_t>> sources_;
    std::span<const Memory> memories_;
    Monitor& monitor_;
    std::vector<size_t> order_;   // sentences, longest first
    std::vector<size_t> starts_;  // the first token of each sentence
    size_t tokens_ = 0;
};

// One step of all live hypotheses.
class LstmStep : LstmPart {
  public:
    LstmStep(const Network& network, Workspace& workspace, std::span<const DecoderRow> rows, size_t position)
        : LstmPart(network, workspace),
          rows_(rows),
          position_(position),
          x_(workspace.x.ensure(rows.size() * h_)),
          update_(workspace.update.ensure(rows.size() * h_)) {}

    const float* run() {
        float* embedded = workspace_.normed.ensure(rows_.size() * d_);
        for (size_t row = 0; row < rows_.size(); ++row) embed(rows_[row].token, embedded + row * d_);
        for (size_t layer = 0; layer < weights_.decoder.size(); ++layer) {
            const RecurrentLayer& weights = weights_.decoder[layer];
            advance(weights.lstm, layer == 0 ? embedded : x_, layer == 0 ? d_ : h_, layer * 2 * h_);
            normalize(weights.norm, update_, layer > 0, rows_.size(), x_);
            if (layer == 0) attend();
        }
        float* decoded = workspace_.inner.ensure(rows_.size() * d_);
        weights_.readout.multiply(activations(x_, rows_.size(), h_), decoded);
        return decoded;
    }

  private:
    // Of a row of the cache at a position: hidden state, then cell of the layer whose elements begin at `history`.
    float* state(size_t row, size_t position, size_t history) const {
        return reinterpret_cast<float*>(rows_[row].history[position]) + history;
    }

    // One step of an LSTM: x [rows, inputs] -> update_ [rows, h], and the states of this position.
    void advance(const Lstm& lstm, const float* x, size_t inputs, size_t history) {
        float* given = workspace_.projected.ensure(rows_.size() * 4 * h_);
        float* recurrent = workspace_.recurrent.ensure(rows_.size() * 4 * h_);
        lstm.input.multiply(activations(x, rows_.size(), inputs), given);
        bool first = position_ == 0;
        if (!first) {
            float* hidden = workspace_.hidden.ensure(rows_.size() * h_);
            for (size_t row = 0; row < rows_.size(); ++row)
                std::copy_n(state(row, position_ - 1, history), h_, hidden + row * h_);
            lstm.recurrent.multiply(activations(hidden, rows_.size(), h_), recurrent);
        }
        for (size_t row = 0; row < rows_.size(); ++row) {
            float* after = state(row, position_, history);
            network_.kernels.vector.lstm_unit(given + row * 4 * h_, first ? nullptr : recurrent + row * 4 * h_,
                                              first ? nullptr : state(row, position_ - 1, history) + h_, h_, after + h_,
                                              after);
            std::copy_n(after, h_, update_ + row * h_);
        }
    }

    // x = LN(x + attention of x to the source).
    void attend() {
        const CrossAttention& attention = weights_.cross_attention;
        size_t a = attention.query.matrix.rows(), rows = rows_.size();
        float* queries = workspace_.projected.ensure(rows * a);
        float* attended = workspace_.attended.ensure(rows * a);
        attention.query.multiply(activations(x_, rows, h_), queries);
        attend_memories(network_, workspace_, rows_, 0, attention.heads, queries, attended);
        attention.output.multiply(activations(attended, rows, a), update_);
        normalize(weights_.cross_attention_norm, update_, true, rows, x_);
    }

    std::span<const DecoderRow> rows_;
    size_t position_;
    float* x_;
    float* update_;
};

}  // namespace

void encode_by_lstm(const Network& network, Workspace& workspace, std::span<const std::span<const uint32_t>> sources,
                    std::span<const Memory> memories, Monitor& monitor) {
    LstmGroup(network, workspace, sources, memories, monitor).run();
}

const float* decode_step_by_lstm(const Network& network, Workspace& workspace, std::span<const DecoderRow> rows,
                                 size_t position) {
    return LstmStep(network, workspace, rows, position).run();
}

}  // namespace pocketmt
