// The encoder, run over sentences laid one after the other without padding.
#include <algorithm>
#include <numeric>
#include <vector>

#include "model/lstm/lstm.h"

namespace pocketmt {

namespace {

// Tokens encoded at a time: each step of the recurrence has a row for every sentence among them.
constexpr size_t group_tokens = 1024;
// Steps of a recurrence between two checks of the monitor.
constexpr size_t steps = 16;

// Sentences that are encoded together.
class Group {
  public:
    Group(const Lstm& network, Workspace& workspace, Sources sources, std::span<const CrossAttentionCache> caches,
          Monitor& monitor)
        : network_(network),
          workspace_(workspace),
          sources_(sources),
          caches_(caches),
          monitor_(monitor),
          d_(network.architecture.model_dimension),
          order_(caches.size()) {
        for (const CrossAttentionCache& cache : caches) {
            starts_.push_back(tokens_);
            tokens_ += cache.positions;
        }
        std::iota(order_.begin(), order_.end(), size_t{0});
        std::stable_sort(order_.begin(), order_.end(),
                         [&](size_t left, size_t right) { return caches[left].positions > caches[right].positions; });
    }

    void run() {
        const LstmWeights& weights = network_.weights;
        const size_t h = network_.h;
        float* x = workspace_.x.ensure(tokens_ * h);
        float* update = workspace_.update.ensure(tokens_ * h);
        const float* embedded = embed_sources();
        read(weights.directions[0], embedded, d_, false, update);
        read(weights.directions[1], embedded, d_, true, update + h / 2);
        network_.normalize(weights.directions_norm, update, false, tokens_, x);
        for (const RecurrentLayer& layer : weights.encoder) {
            read(layer.unit, x, h, false, update);
            network_.normalize(layer.norm, update, true, tokens_, x);
        }
        const CrossAttention& attention = weights.cross_attention;
        float* projected = workspace_.projected.ensure(tokens_ * attention.key_value.matrix.rows());
        attention.key_value.multiply(network_.activations(workspace_, x, tokens_, h), projected);
        fill_cross_attention_caches(network_, caches_, 0, attention.heads, projected);
    }

  private:
    const float* embed_sources() {
        float* embedded = workspace_.normed.ensure(tokens_ * d_);
        float* next = embedded;
        for (std::span<const uint32_t> source : sources_) {
            for (uint32_t token : source) {
                network_.embed(token, next);
                next += d_;
            }
            if (!network_.architecture.append_source_eos) continue;
            network_.embed(network_.architecture.source_eos, next);
            next += d_;
        }
        return embedded;
    }

    // x [tokens, inputs] -> hidden states, `out` [tokens, size], rows h apart. Sentences are read in parallel, the
    // longest first, so that those that have not ended are always the first rows.
    void read(const LstmUnit& unit, const float* x, size_t inputs, bool backwards, float* out) {
        const size_t size = unit.size, sentences = order_.size();
        float* given = workspace_.projected.ensure(tokens_ * 4 * size);
        float* recurrent = workspace_.recurrent.ensure(sentences * 4 * size);
        float* hidden = workspace_.hidden.ensure(sentences * size);
        float* cells = workspace_.cells.ensure(sentences * size);
        unit.input.multiply(network_.activations(workspace_, x, tokens_, inputs), given);
        size_t rows = sentences;
        for (size_t step = 0; rows > 0; ++step) {
            if (step > 0) unit.recurrent.multiply(network_.activations(workspace_, hidden, rows, size), recurrent);
            for (size_t row = 0; row < rows; ++row) {
                const size_t last = caches_[order_[row]].positions - 1;
                const size_t token = starts_[order_[row]] + (backwards ? last - step : step);
                float* cell = cells + row * size;
                network_.kernels.vector.lstm_unit(given + token * 4 * size,
                                                  step > 0 ? recurrent + row * 4 * size : nullptr,
                                                  step > 0 ? cell : nullptr, size, cell, hidden + row * size);
                std::copy_n(hidden + row * size, size, out + token * network_.h);
            }
            while (rows > 0 && caches_[order_[rows - 1]].positions == step + 1) --rows;
            if (step % steps == 0) monitor_.check();
        }
    }

    const Lstm& network_;
    Workspace& workspace_;
    Sources sources_;
    std::span<const CrossAttentionCache> caches_;
    Monitor& monitor_;
    size_t d_;
    std::vector<size_t> order_;   // sentences, longest first
    std::vector<size_t> starts_;  // the first token of each sentence
    size_t tokens_ = 0;
};

}  // namespace

std::vector<CrossAttentionCache> Lstm::encode(Workspace& workspace, Sources sources, Monitor& monitor) const {
    const auto caches = allocate_caches(workspace.cross_attention_caches, sources, architecture, cache_layout());
    for_each_group(sources, caches, group_tokens, [&](Sources group, std::span<const CrossAttentionCache> filled) {
        Group(*this, workspace, group, filled, monitor).run();
    });
    return caches;
}

}  // namespace pocketmt
