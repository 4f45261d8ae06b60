// The encoder, run over sentences laid one after the other without padding.
#include <algorithm>

#include "model/transformer/code_attention.h"
#include "model/transformer/sublayers.h"
#include "model/transformer/transformer.h"

namespace pocketmt {

namespace {

// Tokens encoded at a time: enough to use each weight often, few enough that activations stay in the caches.
constexpr size_t group_tokens = 256;
// Queries between two checks of the monitor.
constexpr size_t attention_queries = 128;

// Sentences that are encoded together.
class Group {
  public:
    Group(const Transformer& network, Workspace& workspace, Sources sources,
          std::span<const CrossAttentionCache> caches, Monitor& monitor)
        : network_(network), workspace_(workspace), sources_(sources), caches_(caches), monitor_(monitor) {
        for (const CrossAttentionCache& cache : caches) tokens_ += cache.positions;
    }

    void run() {
        const TransformerWeights& weights = network_.weights;
        ResidualStream stream(network_, workspace_, weights.encoder_norms, weights.encoder_input, tokens_);
        embed_sources(stream.x());
        stream.start();
        for (const EncoderLayer& layer : weights.encoder_layers) {
            add_self_attention(layer.self_attention, stream);
            add_feed_forward(network_, workspace_, layer.feed_forward, stream, tokens_);
            monitor_.check();
        }
        Activations encoded = stream.activations();
        for (const DecoderLayer& layer : weights.decoder_layers) {
            fill_caches(layer, encoded);
            monitor_.check();
        }
    }

  private:
    void embed_sources(float* x) {
        const size_t dimension = network_.architecture.model_dimension;
        const uint32_t eos = network_.architecture.source_eos;
        const Matrix& embeddings = network_.source_embedding();
        for (std::span<const uint32_t> source : sources_) {
            const size_t count = network_.architecture.source_positions(source.size());
            const float* positions = network_.positions.rows(workspace_.positions, count);
            for (size_t i = 0; i < count; ++i, x += dimension)
                network_.embed(embeddings, i < source.size() ? source[i] : eos, positions + i * dimension, x);
        }
    }

    void add_self_attention(const SelfAttention& layer, ResidualStream& stream) {
        const size_t a = layer.heads * network_.architecture.head_size();
        float* projected = workspace_.projected.ensure(tokens_ * 3 * a);
        float* attended = workspace_.attended.ensure(tokens_ * a);
        Activations input = stream.activations();
        layer.query_key_value.multiply(input, projected);
        size_t first = 0;
        for (const CrossAttentionCache& cache : caches_) {
            if (network_.weights.attends_to_codes) {
                attend_to_codes(layer, projected + first * 3 * a, cache.positions, attended + first * a);
            } else {
                attend(layer.heads, projected + first * 3 * a, cache, attended + first * a);
            }
            first += cache.positions;
        }
        add_attention_output(network_, workspace_, layer.output, layer.attended, attended, tokens_, a, stream);
    }

    // Self-attention of one sentence, projected [positions, 3a] -> out [positions, a].
    void attend(size_t heads, const float* projected, const CrossAttentionCache& sentence, float* out) {
        const size_t head_size = network_.architecture.head_size(), a = heads * head_size, stride = 3 * a,
                     padded = sentence.padded_positions;
        const VectorFunctions& vector = network_.kernels.vector;
        float* keys = workspace_.keys.ensure(padded * a);
        float* scores = workspace_.scores.ensure(attention_rows * padded);
        vector.transpose_keys(projected + a, stride, sentence.positions, heads, head_size, padded, keys);
        const KeysAndValues attended{keys, projected + 2 * a, stride, head_size, sentence.positions, padded};
        for (size_t first = 0; first < sentence.positions; first += attention_queries) {
            const size_t count = std::min(attention_queries, sentence.positions - first);
            vector.attend(projected + first * stride, stride, count, attended, heads, head_size, scores,
                          out + first * a, a);
            monitor_.check();
        }
    }

    // The same, to codes of keys and values.
    void attend_to_codes(const SelfAttention& layer, const float* projected, size_t positions, float* out) {
        const size_t a = layer.heads * network_.architecture.head_size(), stride = 3 * a;
        int8_t* codes = workspace_.codes.ensure(2 * positions * a);
        quantize_keys_and_values(network_, layer.quantization, a, projected + a, stride, positions, codes);
        CodeAttention attention(network_, workspace_, layer.quantization, layer.heads, positions);
        attention.set_positions(codes);
        for (size_t query = 0; query < positions; ++query) {
            attention.attend(projected + query * stride, out + query * a);
            if (query % attention_queries == 0) monitor_.check();
        }
    }

    // Stores keys and values of the encoder's output for one decoder layer.
    void fill_caches(const DecoderLayer& layer, Activations& encoded) {
        const CrossAttention& attention = layer.cross_attention;
        const size_t a = attention.heads * network_.architecture.head_size();
        float* projected = workspace_.projected.ensure(tokens_ * 2 * a);
        attention.key_value.multiply(encoded, projected);
        if (!network_.weights.attends_to_codes) {
            fill_cross_attention_caches(network_, caches_, layer.earlier_queries, attention.heads, projected);
            return;
        }
        for (const CrossAttentionCache& cache : caches_) {
            quantize_keys_and_values(network_, attention.quantization, a, projected, 2 * a, cache.positions,
                                     cache.codes(layer.earlier_queries));
            projected += cache.positions * 2 * a;
        }
    }

    const Transformer& network_;
    Workspace& workspace_;
    Sources sources_;
    std::span<const CrossAttentionCache> caches_;
    Monitor& monitor_;
    size_t tokens_ = 0;
};

}  // namespace

std::vector<CrossAttentionCache> Transformer::encode(Workspace& workspace, Sources sources, Monitor& monitor) const {
    const auto caches = allocate_caches(workspace.cross_attention_caches, sources, architecture, cache_layout());
    for_each_group(sources, caches, group_tokens, [&](Sources group, std::span<const CrossAttentionCache> filled) {
        Group(*this, workspace, group, filled, monitor).run();
    });
    return caches;
}

}  // namespace pocketmt
