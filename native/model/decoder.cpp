#include "model/decoder.h"

#include <algorithm>

#include "model/code_attention.h"
#include "model/layers.h"

namespace pocketmt {

namespace {

class Step {
  public:
    Step(const Network& network, Workspace& workspace, std::span<const DecoderRow> rows, size_t position)
        : network_(network),
          workspace_(workspace),
          rows_(rows),
          positions_(position + 1),
          a_(network.architecture.attention_dimension),
          update_(workspace.update.ensure(rows.size() * network.architecture.model_dimension)),
          projected_(workspace.projected.ensure(rows.size() * 3 * a_)),
          attended_(workspace.attended.ensure(rows.size() * a_)) {}

    const float* run() {
        ResidualStream stream(network_, workspace_, network_.weights.decoder_norms, network_.weights.decoder_input,
                              rows_.size());
        embed_tokens(stream.x());
        stream.start();
        for (size_t layer = 0; layer < network_.weights.decoder_layers.size(); ++layer) {
            const DecoderLayer& weights = network_.weights.decoder_layers[layer];
            add_self_attention(weights.self_attention, layer, stream);
            add_cross_attention(weights.cross_attention, layer, stream);
            add_feed_forward(network_, workspace_, weights.feed_forward, stream, rows_.size());
        }
        return stream.input();
    }

  private:
    void embed_tokens(float* x) {
        size_t dimension = network_.architecture.model_dimension;
        const float* position = workspace_.positions.rows(positions_) + (positions_ - 1) * dimension;
        for (const DecoderRow& row : rows_) {
            embed(network_, row.token, position, x);
            x += dimension;
        }
    }

    void add_self_attention(const SelfAttention& weights, size_t layer, ResidualStream& stream) {
        Activations input = stream.activations();
        weights.query_key_value.multiply(input, projected_);
        if (network_.weights.attends_codes) {
            attend_cached_codes(weights.grids, layer);
        } else {
            attend_cache(layer);
        }
        add_output(weights.output, weights.attended, stream);
    }

    void attend_cache(size_t layer) {
        size_t heads = network_.architecture.attention_heads, offset = layer * 2 * a_;
        const float** keys = workspace_.key_rows.ensure(positions_);
        const float** values = workspace_.value_rows.ensure(positions_);
        float* scores = workspace_.scores.ensure(heads * round_up(positions_, 16));
        for (size_t row = 0; row < rows_.size(); ++row) {
            const float* projected = projected_ + row * 3 * a_;
            std::byte* const* history = rows_[row].history;
            std::copy_n(projected + a_, 2 * a_, reinterpret_cast<float*>(history[positions_ - 1]) + offset);
            for (size_t i = 0; i < positions_; ++i) {
                keys[i] = reinterpret_cast<const float*>(history[i]) + offset;
                values[i] = keys[i] + a_;
            }
            network_.kernels.vector.attend_cache(projected, keys, values, positions_, heads,
                                                 network_.architecture.head_size(), scores, attended_ + row * a_);
        }
    }

    void attend_cached_codes(const AttentionGrids& grids, size_t layer) {
        size_t offset = layer * 2 * a_;
        CodeAttention attention(network_, workspace_, grids, positions_);
        for (size_t row = 0; row < rows_.size(); ++row) {
            const float* projected = projected_ + row * 3 * a_;
            auto codes = [&](size_t position) {
                return reinterpret_cast<int8_t*>(rows_[row].history[position]) + offset;
            };
            code_keys_and_values(network_, grids, projected + a_, 3 * a_, 1, codes(positions_ - 1));
            for (size_t i = 0; i < positions_; ++i) attention.set_position(i, codes(i), codes(i) + a_);
            attention.attend(projected, attended_ + row * a_);
        }
    }

    void add_cross_attention(const CrossAttention& weights, size_t layer, ResidualStream& stream) {
        Activations input = stream.activations();
        weights.query.multiply(input, projected_);
        for (size_t first = 0; first < rows_.size();) {
            const Memory* memory = rows_[first].memory;
            size_t end = first + 1;
            while (end < rows_.size() && rows_[end].memory == memory) ++end;
            if (network_.weights.attends_codes) {
                attend_coded_memory(weights.grids, layer, first, end);
            } else {
                attend_memory(layer, first, end);
            }
            first = end;
        }
        add_output(weights.output, weights.attended, stream);
    }

    // Rows `first` to `end` - 1, which share a memory.
    void attend_memory(size_t layer, size_t first, size_t end) {
        const Memory& memory = *rows_[first].memory;
        float* scores = workspace_.scores.ensure(attention_rows * memory.padded_positions);
        network_.kernels.vector.attend_memory(projected_ + first * a_, a_, end - first, memory.layer(layer, a_),
                                              network_.architecture.attention_heads, network_.architecture.head_size(),
                                              scores, attended_ + first * a_, a_);
    }

    void attend_coded_memory(const AttentionGrids& grids, size_t layer, size_t first, size_t end) {
        const Memory& memory = *rows_[first].memory;
        CodeAttention attention(network_, workspace_, grids, memory.positions);
        attention.set_positions(memory.codes(layer, a_));
        for (size_t row = first; row < end; ++row) attention.attend(projected_ + row * a_, attended_ + row * a_);
    }

    void add_output(const Linear& output, const Grid& grid, ResidualStream& stream) {
        snap(network_.kernels, grid, attended_, rows_.size(), a_);
        output.multiply(Activations(network_.quantizer, workspace_.product, attended_, rows_.size(), a_, grid),
                        update_);
        stream.add(update_);
    }

    const Network& network_;
    Workspace& workspace_;
    std::span<const DecoderRow> rows_;
    size_t positions_;  // attended: the earlier ones and this one
    size_t a_;
    float* update_;
    float* projected_;
    float* attended_;
};

}  // namespace

const float* decode_step(const Network& network, Workspace& workspace, std::span<const DecoderRow> rows,
                         size_t position) {
    return Step(network, workspace, rows, position).run();
}

}  // namespace pocketmt
