#include "model/layers/attention_weights.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pocketmt {

namespace {

// Adds query * key to the score of each source position, for the elements `first` to `end` - 1.
void add_products(const CrossAttentionCache& cache, size_t earlier, const float* query, size_t first, size_t end,
                  float* scores) {
    for (size_t element = first; element < end; ++element) {
        const float* keys = cache.floats(earlier) + element * cache.padded_positions;
        for (size_t position = 0; position < cache.positions; ++position)
            scores[position] += query[element] * keys[position];
    }
}

// The same for keys that are codes [positions, a]. What all positions have in common does not change the softmax.
void add_code_products(const CrossAttentionCache& cache, size_t earlier, const QuantizationParameters& parameters,
                       size_t a, const float* query, size_t first, size_t end, float* scores) {
    for (size_t position = 0; position < cache.positions; ++position) {
        const int8_t* codes = cache.codes(earlier) + position * a;
        for (size_t element = first; element < end; ++element) {
            const float scale = parameters.scales[parameters.per_tensor() ? 0 : element];
            scores[position] += query[element] * scale * static_cast<float>(codes[element]);
        }
    }
}

// Adds softmax(scores * inverse_root) * factor to out [positions].
void add_softmax(std::vector<float>& scores, float inverse_root, float factor, float* out) {
    const float greatest = *std::ranges::max_element(scores);
    float total = 0.0f;
    for (float& score : scores) {
        score = std::exp((score - greatest) * inverse_root);
        total += score;
    }
    factor /= total;
    for (size_t position = 0; position < scores.size(); ++position) out[position] += scores[position] * factor;
}

}  // namespace

void add_attention(const NetworkBase& network, const CrossAttention& layer, bool codes,
                   std::span<const DecoderRow> rows, size_t earlier, const float* queries, size_t layers) {
    const size_t head_size = network.architecture.head_size(), a = layer.heads * head_size;
    const float inverse_root = 1.0f / std::sqrt(static_cast<float>(head_size));
    const float factor = 1.0f / static_cast<float>(layer.heads * layers);
    std::vector<float> scores;
    for (size_t row = 0; row < rows.size(); ++row) {
        if (rows[row].attention == nullptr) continue;
        const CrossAttentionCache& cache = *rows[row].cross_attention_cache;
        const float* query = queries + row * a;
        for (size_t first = 0; first < a; first += head_size) {
            scores.assign(cache.positions, 0.0f);
            if (codes) {
                add_code_products(cache, earlier, layer.quantization.key, a, query, first, first + head_size,
                                  scores.data());
            } else {
                add_products(cache, earlier, query, first, first + head_size, scores.data());
            }
            add_softmax(scores, inverse_root, factor, rows[row].attention);
        }
    }
}

}  // namespace pocketmt
