#include "model/layers/attention_weights.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pocketmt {

namespace {

// The element of a key at a source position.
class Keys {
  public:
    Keys(const CrossAttentionCache& cache, size_t earlier, size_t a, const QuantizationParameters* codes)
        : cache_(cache), a_(a), parameters_(codes) {
        if (codes == nullptr) {
            floats_ = cache.floats(earlier);
        } else {
            codes_ = cache.codes(earlier);
        }
    }

    float at(size_t element, size_t position) const {
        if (parameters_ == nullptr) return floats_[element * cache_.padded_positions + position];
        const size_t range = parameters_->per_tensor() ? 0 : element;
        return parameters_->offsets[range] +
               parameters_->scales[range] * static_cast<float>(codes_[position * a_ + element]);
    }

  private:
    const CrossAttentionCache& cache_;
    size_t a_;
    const QuantizationParameters* parameters_;  // of codes
    const float* floats_ = nullptr;             // [a, padded positions]
    const int8_t* codes_ = nullptr;             // [positions, a]
};

// Adds softmax(scores) * factor to out [positions].
void add_softmax(std::vector<float>& scores, float factor, float* out) {
    const float greatest = *std::ranges::max_element(scores);
    float total = 0.0f;
    for (float& score : scores) {
        score = std::exp(score - greatest);
        total += score;
    }
    for (size_t position = 0; position < scores.size(); ++position) out[position] += scores[position] / total * factor;
}

}  // namespace

void add_attention(const TiedNetwork& network, const CrossAttention& layer, bool codes,
                   std::span<const DecoderRow> rows, size_t earlier, const float* queries, size_t layers) {
    const size_t head_size = network.architecture.head_size(), a = layer.heads * head_size;
    const float factor = 1.0f / std::sqrt(static_cast<float>(head_size));
    std::vector<float> scores;
    for (size_t row = 0; row < rows.size(); ++row) {
        if (rows[row].attention == nullptr) continue;
        const CrossAttentionCache& cache = *rows[row].cross_attention_cache;
        const Keys keys(cache, earlier, a, codes ? &layer.quantization.key : nullptr);
        for (size_t head = 0; head < layer.heads; ++head) {
            scores.assign(cache.positions, 0.0f);
            for (size_t element = head * head_size; element < (head + 1) * head_size; ++element) {
                const float query = queries[row * a + element] * factor;
                for (size_t position = 0; position < cache.positions; ++position)
                    scores[position] += query * keys.at(element, position);
            }
            add_softmax(scores, 1.0f / static_cast<float>(layer.heads * layers), rows[row].attention);
        }
    }
}

}  // namespace pocketmt
