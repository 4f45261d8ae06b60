#include "model/layers/cross_attention.h"

#include <algorithm>

namespace pocketmt {

void fill_cross_attention_caches(const NetworkBase& network, std::span<const CrossAttentionCache> caches,
                                 size_t earlier, size_t heads, const float* projected) {
    size_t head_size = network.architecture.head_size(), a = heads * head_size;
    for (const CrossAttentionCache& cache : caches) {
        size_t padded = cache.padded_positions;
        float* keys = cache.floats(earlier);
        network.kernels.vector.transpose_keys(projected, 2 * a, cache.positions, heads, head_size, padded, keys);
        float* values = keys + padded * a;
        for (size_t head = 0; head < heads; ++head) {
            const float* column = projected + a + head * head_size;
            for (size_t i = 0; i < cache.positions; ++i, values += head_size)
                std::copy_n(column + i * 2 * a, head_size, values);
        }
        projected += cache.positions * 2 * a;
    }
}

void attend_to_source(const NetworkBase& network, Workspace& workspace, std::span<const DecoderRow> rows,
                      size_t earlier, size_t heads, const float* queries, float* out) {
    size_t head_size = network.architecture.head_size(), a = heads * head_size;
    for_each_sentence(rows, [&](const CrossAttentionCache& cache, size_t first, size_t end) {
        float* scores = workspace.scores.ensure(attention_rows * cache.padded_positions);
        network.kernels.vector.attend(queries + first * a, a, end - first,
                                      cache.keys_and_values(earlier, heads, head_size), heads, head_size, scores,
                                      out + first * a, a);
    });
}

}  // namespace pocketmt
