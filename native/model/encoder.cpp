#include "model/encoder.h"

#include <algorithm>

#include "model/code_attention.h"
#include "model/cross_attention.h"
#include "model/layers.h"
#include "model/lstm.h"

namespace pocketmt {

namespace {

constexpr size_t position_padding = 16;
// Tokens encoded at a time: enough to use each weight often, few enough that activations stay in the caches.
constexpr size_t group_tokens = 256;
// Queries attended between two looks at the monitor.
constexpr size_t attention_queries = 128;

// Some sentences, encoded together.
class Group {
  public:
    Group(const Network& network, Workspace& workspace, std::span<const std::span<const uint32_t>> sources,
          std::span<const Memory> memories, Monitor& monitor)
        : network_(network), workspace_(workspace), sources_(sources), memories_(memories), monitor_(monitor) {
        for (const Memory& memory : memories) tokens_ += memory.positions;
    }

    void run() {
        ResidualStream stream(network_, workspace_, network_.weights.encoder_norms, network_.weights.encoder_input,
                              tokens_);
        embed_sources(stream.x());
        stream.start();
        for (const EncoderLayer& layer : network_.weights.encoder_layers) {
            add_self_attention(layer.self_attention, stream);
            add_feed_forward(network_, workspace_, layer.feed_forward, stream, tokens_);
            monitor_.check();
        }
        Activations encoded = stream.activations();
        for (const DecoderLayer& layer : network_.weights.decoder_layers) {
            remember(layer, encoded);
            monitor_.check();
        }
    }

  private:
    void embed_sources(float* x) {
        size_t dimension = network_.architecture.model_dimension;
        for (std::span<const uint32_t> source : sources_) {
            const float* positions = workspace_.positions.rows(source.size() + 1);
            for (size_t i = 0; i <= source.size(); ++i, x += dimension) {
                embed(network_, i < source.size() ? source[i] : uint32_t{eos_token}, positions + i * dimension, x);
            }
        }
    }

    void add_self_attention(const SelfAttention& layer, ResidualStream& stream) {
        size_t a = layer.heads * network_.architecture.head_size;
        float* projected = workspace_.projected.ensure(tokens_ * 3 * a);
        float* attended = workspace_.attended.ensure(tokens_ * a);
        float* update = workspace_.update.ensure(tokens_ * network_.architecture.model_dimension);
        Activations input = stream.activations();
        layer.query_key_value.multiply(input, projected);
        for (size_t sentence = 0, first = 0; sentence < memories_.size(); ++sentence) {
            const Memory& memory = memories_[sentence];
            if (network_.weights.attends_codes) {
                attend_codes(layer, projected + first * 3 * a, memory.positions, attended + first * a);
            } else {
                attend(layer.heads, projected + first * 3 * a, memory, attended + first * a);
            }
            first += memories_[sentence].positions;
        }
        snap(network_.kernels, layer.attended, attended, tokens_, a);
        layer.output.multiply(Activations(network_.quantizer, workspace_.product, attended, tokens_, a, layer.attended),
                              update);
        stream.add(update);
    }

    // Self-attention of one sentence, projected [positions, 3a] -> out [positions, a].
    void attend(size_t heads, const float* projected, const Memory& sentence, float* out) {
        size_t head_size = network_.architecture.head_size, a = heads * head_size, stride = 3 * a,
               padded = sentence.padded_positions;
        float* keys = workspace_.keys.ensure(padded * a);
        float* scores = workspace_.scores.ensure(attention_rows * padded);
        network_.kernels.vector.transpose_keys(projected + a, stride, sentence.positions, heads, head_size, padded,
                                               keys);
        AttentionMemory memory{keys, projected + 2 * a, stride, head_size, sentence.positions, padded};
        for (size_t first = 0; first < sentence.positions; first += attention_queries) {
            size_t count = std::min(attention_queries, sentence.positions - first);
            network_.kernels.vector.attend_memory(projected + first * stride, stride, count, memory, heads, head_size,
                                                  scores, out + first * a, a);
            monitor_.check();
        }
    }

    // The same, to codes of keys and values.
    void attend_codes(const SelfAttention& layer, const float* projected, size_t positions, float* out) {
        size_t a = layer.heads * network_.architecture.head_size, stride = 3 * a;
        int8_t* codes = workspace_.codes.ensure(2 * positions * a);
        code_keys_and_values(network_, layer.grids, a, projected + a, stride, positions, codes);
        CodeAttention attention(network_, workspace_, layer.grids, layer.heads, positions);
        attention.set_positions(codes);
        for (size_t query = 0; query < positions; ++query) {
            attention.attend(projected + query * stride, out + query * a);
            if (query % attention_queries == 0) monitor_.check();
        }
    }

    // Keys and values of the encoder's output for one decoder layer.
    void remember(const DecoderLayer& layer, Activations& encoded) {
        const CrossAttention& attention = layer.cross_attention;
        size_t a = attention.heads * network_.architecture.head_size;
        float* projected = workspace_.projected.ensure(tokens_ * 2 * a);
        attention.key_value.multiply(encoded, projected);
        if (!network_.weights.attends_codes) {
            keep_keys_and_values(network_, memories_, layer.memory, attention.heads, projected);
            return;
        }
        for (const Memory& memory : memories_) {
            code_keys_and_values(network_, attention.grids, a, projected, 2 * a, memory.positions,
                                 memory.codes(layer.memory));
            projected += memory.positions * 2 * a;
        }
    }

    const Network& network_;
    Workspace& workspace_;
    std::span<const std::span<const uint32_t>> sources_;
    std::span<const Memory> memories_;
    Monitor& monitor_;
    size_t tokens_ = 0;
};

}  // namespace

float* Memory::floats(size_t earlier) const {
    return reinterpret_cast<float*>(data) + earlier * (padded_positions + positions);
}

AttentionMemory Memory::of(size_t earlier, size_t heads, size_t head_size) const {
    const float* keys = floats(earlier);
    const float* values = keys + padded_positions * heads * head_size;
    return {keys, values, head_size, positions * head_size, positions, padded_positions};
}

int8_t* Memory::codes(size_t earlier) const {
    return reinterpret_cast<int8_t*>(data) + earlier * 2 * positions;
}

std::vector<Memory> encode(const Network& network, Workspace& workspace,
                           std::span<const std::span<const uint32_t>> sources, Monitor& monitor) {
    size_t queries = network.architecture.queries();
    // Sentences start on a cache line.
    auto sentence_size = [&](size_t positions) {
        size_t keys = network.weights.attends_codes ? positions : round_up(positions, position_padding);
        return round_up((keys + positions) * queries * network.weights.attended_bytes(), buffer_alignment);
    };
    size_t size = 0;
    for (std::span<const uint32_t> source : sources) size += sentence_size(source.size() + 1);
    std::byte* data = workspace.memory.ensure(size);
    std::vector<Memory> memories;
    for (std::span<const uint32_t> source : sources) {
        size_t positions = source.size() + 1;
        memories.push_back({data, positions, round_up(positions, position_padding)});
        data += sentence_size(positions);
    }
    size_t most_tokens = network.lstm ? lstm_group_tokens : group_tokens;
    for (size_t first = 0; first < sources.size();) {
        size_t end = first, tokens = 0;
        while (end < sources.size() && (end == first || tokens + memories[end].positions <= most_tokens)) {
            tokens += memories[end++].positions;
        }
        auto texts = sources.subspan(first, end - first);
        auto filled = std::span(memories).subspan(first, end - first);
        if (network.lstm) {
            encode_by_lstm(network, workspace, texts, filled, monitor);
        } else {
            Group(network, workspace, texts, filled, monitor).run();
        }
        first = end;
    }
    return memories;
}

}  // namespace pocketmt
