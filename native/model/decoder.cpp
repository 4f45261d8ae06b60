#include "model/decoder.h"

#include <algorithm>

#include "model/code_attention.h"
#include "model/cross_attention.h"
#include "model/layers.h"
#include "model/lstm.h"

namespace pocketmt {

namespace {

class Step {
  public:
    Step(const Network& network, Workspace& workspace, std::span<const DecoderRow> rows, size_t position)
        : network_(network),
          workspace_(workspace),
          rows_(rows),
          positions_(position + 1),
          d_(network.architecture.model_dimension),
          update_(workspace.update.ensure(rows.size() * d_)),
          projected_(
              workspace.projected.ensure(rows.size() * std::max(3 * network.architecture.widest_attention(), 2 * d_))),
          attended_(workspace.attended.ensure(rows.size() * network.architecture.widest_attention())) {}

    const float* run() {
        ResidualStream stream(network_, workspace_, network_.weights.decoder_norms, network_.weights.decoder_input,
                              rows_.size());
        embed_tokens(stream.x());
        stream.start();
        size_t round_history = network_.architecture.history() / network_.architecture.decoder_rounds;
        for (size_t round = 0; round < network_.architecture.decoder_rounds; ++round) {
            for (const DecoderLayer& layer : network_.weights.decoder_layers) {
                look_back(layer, round * round_history + layer.history, stream);
                add_cross_attention(layer, stream);
                add_feed_forward(network_, workspace_, layer.feed_forward, stream, rows_.size());
            }
        }
        return stream.input();
    }

  private:
    void embed_tokens(float* x) {
        const float* position = workspace_.positions.rows(positions_) + (positions_ - 1) * d_;
        for (const DecoderRow& row : rows_) {
            embed(network_, row.token, position, x);
            x += d_;
        }
    }

    // history: where this layer's elements are in a row of the cache.
    void look_back(const DecoderLayer& layer, size_t history, ResidualStream& stream) {
        if (layer.recurrent_unit) {
            add_recurrent_unit(*layer.recurrent_unit, history, stream);
        } else {
            add_self_attention(*layer.self_attention, history, stream);
        }
    }

    void add_recurrent_unit(const RecurrentUnit& weights, size_t history, ResidualStream& stream) {
        Activations input = stream.activations();
        weights.input_forget.multiply(input, projected_);
        for (size_t row = 0; row < rows_.size(); ++row) {
            auto cell = [&](size_t position) {
                return reinterpret_cast<float*>(rows_[row].history[position]) + history;
            };
            const float* before = positions_ == 1 ? nullptr : cell(positions_ - 2);
            network_.kernels.vector.recurrent_unit(projected_ + row * 2 * d_, weights.forget_bias.data(), before, d_,
                                                   cell(positions_ - 1), update_ + row * d_);
        }
        stream.add(update_);
    }

    void add_self_attention(const SelfAttention& weights, size_t history, ResidualStream& stream) {
        Activations input = stream.activations();
        weights.query_key_value.multiply(input, projected_);
        if (network_.weights.attends_codes) {
            attend_cached_codes(weights, history);
        } else {
            attend_cache(weights.heads, history);
        }
        add_output(weights.output, weights.heads, weights.attended, stream);
    }

    void attend_cache(size_t heads, size_t history) {
        size_t head_size = network_.architecture.head_size, a = heads * head_size;
        const float** keys = workspace_.key_rows.ensure(positions_);
        const float** values = workspace_.value_rows.ensure(positions_);
        float* scores = workspace_.scores.ensure(heads * round_up(positions_, 16));
        for (size_t row = 0; row < rows_.size(); ++row) {
            const float* projected = projected_ + row * 3 * a;
            std::byte* const* rows = rows_[row].history;
            std::copy_n(projected + a, 2 * a, reinterpret_cast<float*>(rows[positions_ - 1]) + history);
            for (size_t i = 0; i < positions_; ++i) {
                keys[i] = reinterpret_cast<const float*>(rows[i]) + history;
                values[i] = keys[i] + a;
            }
            network_.kernels.vector.attend_cache(projected, keys, values, positions_, heads, head_size, scores,
                                                 attended_ + row * a);
        }
    }

    void attend_cached_codes(const SelfAttention& weights, size_t history) {
        size_t a = weights.heads * network_.architecture.head_size;
        CodeAttention attention(network_, workspace_, weights.grids, weights.heads, positions_);
        for (size_t row = 0; row < rows_.size(); ++row) {
            const float* projected = projected_ + row * 3 * a;
            auto codes = [&](size_t position) {
                return reinterpret_cast<int8_t*>(rows_[row].history[position]) + history;
            };
            code_keys_and_values(network_, weights.grids, a, projected + a, 3 * a, 1, codes(positions_ - 1));
            for (size_t i = 0; i < positions_; ++i) attention.set_position(i, codes(i), codes(i) + a);
            attention.attend(projected, attended_ + row * a);
        }
    }

    void add_cross_attention(const DecoderLayer& layer, ResidualStream& stream) {
        const CrossAttention& weights = layer.cross_attention;
        Activations input = stream.activations();
        weights.query.multiply(input, projected_);
        if (network_.weights.attends_codes) {
            attend_coded_memories(layer);
        } else {
            attend_memories(network_, workspace_, rows_, layer.memory, weights.heads, projected_, attended_);
        }
        add_output(weights.output, weights.heads, weights.attended, stream);
    }

    void attend_coded_memories(const DecoderLayer& layer) {
        const CrossAttention& weights = layer.cross_attention;
        size_t a = weights.heads * network_.architecture.head_size;
        for_each_memory(rows_, [&](const Memory& memory, size_t first, size_t end) {
            CodeAttention attention(network_, workspace_, weights.grids, weights.heads, memory.positions);
            attention.set_positions(memory.codes(layer.memory));
            for (size_t row = first; row < end; ++row) attention.attend(projected_ + row * a, attended_ + row * a);
        });
    }

    void add_output(const Linear& output, size_t heads, const Grid& grid, ResidualStream& stream) {
        size_t a = heads * network_.architecture.head_size;
        snap(network_.kernels, grid, attended_, rows_.size(), a);
        output.multiply(Activations(network_.quantizer, workspace_.product, attended_, rows_.size(), a, grid), update_);
        stream.add(update_);
    }

    const Network& network_;
    Workspace& workspace_;
    std::span<const DecoderRow> rows_;
    size_t positions_;  // attended: the earlier ones and this one
    size_t d_;
    float* update_;
    float* projected_;
    float* attended_;
};

}  // namespace

const float* decode_step(const Network& network, Workspace& workspace, std::span<const DecoderRow> rows,
                         size_t position) {
    if (network.lstm) return decode_step_by_lstm(network, workspace, rows, position);
    return Step(network, workspace, rows, position).run();
}

}  // namespace pocketmt
