// One step of the decoder, for all live hypotheses.
#include <algorithm>

#include "model/layers/attention_weights.h"
#include "model/transformer/code_attention.h"
#include "model/transformer/sublayers.h"
#include "model/transformer/transformer.h"

namespace pocketmt {

namespace {

class Step {
  public:
    Step(const Transformer& network, Workspace& workspace, std::span<const DecoderRow> rows, size_t position)
        : network_(network),
          workspace_(workspace),
          rows_(rows),
          positions_(position + 1),
          d_(network.architecture.model_dimension),
          head_size_(network.architecture.head_size()),
          projected_(workspace.projected.ensure(rows.size() * std::max(3 * network.shape.widest_attention(), 2 * d_))),
          attended_(workspace.attended.ensure(rows.size() * std::max(network.shape.widest_attention(), d_))) {}

    const float* run() {
        const TransformerWeights& weights = network_.weights;
        ResidualStream stream(network_, workspace_, weights.decoder_norms, weights.decoder_input, rows_.size());
        embed_tokens(stream.x());
        stream.start();
        const size_t rounds = network_.shape.decoder_rounds, round_state = network_.shape.state_elements() / rounds;
        for (size_t round = 0; round < rounds; ++round) {
            for (const DecoderLayer& layer : weights.decoder_layers) {
                const size_t state = round * round_state + layer.earlier_state;
                if (layer.recurrent_unit) {
                    add_recurrent_unit(*layer.recurrent_unit, state, stream);
                } else if (layer.average_attention) {
                    add_average_attention(*layer.average_attention, state, stream);
                } else {
                    add_self_attention(*layer.self_attention, state, stream);
                }
                add_cross_attention(layer, stream);
                add_feed_forward(network_, workspace_, layer.feed_forward, stream, rows_.size());
            }
        }
        return stream.input();
    }

  private:
    void embed_tokens(float* x) {
        const float* position = network_.positions.rows(workspace_.positions, positions_) + (positions_ - 1) * d_;
        for (const DecoderRow& row : rows_) {
            network_.embed(network_.embedding, row.token, position, x);
            x += d_;
        }
    }

    // An element of the state at a position; `state`: where a layer's elements begin in it.
    float* stored(size_t row, size_t position, size_t state) const {
        return reinterpret_cast<float*>(rows_[row].states[position]) + state;
    }

    void add_recurrent_unit(const RecurrentUnit& weights, size_t state, ResidualStream& stream) {
        float* update = workspace_.update.ensure(rows_.size() * d_);
        Activations input = stream.activations();
        weights.input_forget.multiply(input, projected_);
        for (size_t row = 0; row < rows_.size(); ++row) {
            const float* before = positions_ == 1 ? nullptr : stored(row, positions_ - 2, state);
            network_.kernels.vector.recurrent_unit(projected_ + row * 2 * d_, weights.forget_bias.data(), before, d_,
                                                   stored(row, positions_ - 1, state), update + row * d_);
        }
        stream.add(update);
    }

    void add_average_attention(const AverageAttention& weights, size_t state, ResidualStream& stream) {
        const VectorFunctions& vector = network_.kernels.vector;
        const size_t count = rows_.size();
        const float* x = stream.x();
        for (size_t row = 0; row < count; ++row) {
            const float* before = positions_ == 1 ? nullptr : stored(row, positions_ - 2, state);
            float* mean = stored(row, positions_ - 1, state);
            vector.running_mean(x + row * d_, before, positions_ - 1, d_, mean);
            std::copy_n(mean, d_, projected_ + row * d_);
        }
        float* y = attended_;
        stream.normalize_like_input(projected_, y);
        if (weights.layers) {
            const size_t nodes = weights.layers->inner.matrix.rows();
            float* inner = workspace_.inner.ensure(count * nodes);
            multiply_activated(weights.layers->inner, network_.activations(workspace_, y, count, d_),
                               network_.average_activate, inner);
            weights.layers->outer.multiply(network_.activations(workspace_, inner, count, nodes), y);
        }
        if (weights.gates) {
            float *x_gate = projected_, *y_gate = projected_ + count * d_;
            weights.gates->input.multiply(network_.activations(workspace_, x, count, d_), x_gate);
            weights.gates->average.multiply(network_.activations(workspace_, y, count, d_), y_gate);
            vector.gated_sum(x_gate, x, y_gate, y, count * d_, y);
        }
        stream.add(y);
    }

    void add_self_attention(const SelfAttention& weights, size_t state, ResidualStream& stream) {
        Activations input = stream.activations();
        weights.query_key_value.multiply(input, projected_);
        if (network_.weights.attends_to_codes) {
            attend_to_state_codes(weights, state);
        } else {
            attend_to_states(weights.heads, state);
        }
        add_output(weights.output, weights.heads, weights.attended, stream);
    }

    void attend_to_states(size_t heads, size_t state) {
        const size_t a = heads * head_size_;
        const float** keys = workspace_.key_rows.ensure(positions_);
        const float** values = workspace_.value_rows.ensure(positions_);
        float* scores = workspace_.scores.ensure(heads * round_up(positions_, 16));
        for (size_t row = 0; row < rows_.size(); ++row) {
            const float* projected = projected_ + row * 3 * a;
            std::byte* const* states = rows_[row].states;
            std::copy_n(projected + a, 2 * a, reinterpret_cast<float*>(states[positions_ - 1]) + state);
            for (size_t i = 0; i < positions_; ++i) {
                keys[i] = reinterpret_cast<const float*>(states[i]) + state;
                values[i] = keys[i] + a;
            }
            network_.kernels.vector.attend_cache(projected, keys, values, positions_, heads, head_size_, scores,
                                                 attended_ + row * a);
        }
    }

    void attend_to_state_codes(const SelfAttention& weights, size_t state) {
        const size_t a = weights.heads * head_size_;
        CodeAttention attention(network_, workspace_, weights.quantization, weights.heads, positions_);
        for (size_t row = 0; row < rows_.size(); ++row) {
            const float* projected = projected_ + row * 3 * a;
            auto codes = [&](size_t position) {
                return reinterpret_cast<int8_t*>(rows_[row].states[position]) + state;
            };
            quantize_keys_and_values(network_, weights.quantization, a, projected + a, 3 * a, 1, codes(positions_ - 1));
            for (size_t i = 0; i < positions_; ++i) attention.set_position(i, codes(i), codes(i) + a);
            attention.attend(projected, attended_ + row * a);
        }
    }

    void add_cross_attention(const DecoderLayer& layer, ResidualStream& stream) {
        const CrossAttention& weights = layer.cross_attention;
        Activations input = stream.activations();
        weights.query.multiply(input, projected_);
        if (network_.weights.attends_to_codes) {
            attend_to_source_codes(layer);
        } else {
            attend_to_source(network_, workspace_, rows_, layer.earlier_queries, weights.heads, projected_, attended_);
        }
        add_attention(network_, weights, network_.weights.attends_to_codes, rows_, layer.earlier_queries, projected_,
                      network_.weights.decoder_layers.size() * network_.shape.decoder_rounds);
        add_output(weights.output, weights.heads, weights.attended, stream);
    }

    void attend_to_source_codes(const DecoderLayer& layer) {
        const CrossAttention& weights = layer.cross_attention;
        const size_t a = weights.heads * head_size_;
        for_each_sentence(rows_, [&](const CrossAttentionCache& cache, size_t first, size_t end) {
            CodeAttention attention(network_, workspace_, weights.quantization, weights.heads, cache.positions);
            attention.set_positions(cache.codes(layer.earlier_queries));
            for (size_t row = first; row < end; ++row) attention.attend(projected_ + row * a, attended_ + row * a);
        });
    }

    void add_output(const Linear& output, size_t heads, const QuantizationParameters& quantization,
                    ResidualStream& stream) {
        add_attention_output(network_, workspace_, output, quantization, attended_, rows_.size(), heads * head_size_,
                             stream);
    }

    const Transformer& network_;
    Workspace& workspace_;
    std::span<const DecoderRow> rows_;
    size_t positions_;  // the earlier ones and this one
    size_t d_;
    size_t head_size_;
    float* projected_;
    float* attended_;
};

}  // namespace

const float* Transformer::decode_step(Workspace& workspace, std::span<const DecoderRow> rows, size_t position) const {
    return Step(*this, workspace, rows, position).run();
}

}  // namespace pocketmt
