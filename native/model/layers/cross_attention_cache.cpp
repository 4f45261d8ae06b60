#include "model/layers/cross_attention_cache.h"

namespace pocketmt {

namespace {

constexpr size_t position_padding = 16;

}  // namespace

float* CrossAttentionCache::floats(size_t earlier) const {
    return reinterpret_cast<float*>(data) + earlier * (padded_positions + positions);
}

KeysAndValues CrossAttentionCache::keys_and_values(size_t earlier, size_t heads, size_t head_size) const {
    const float* keys = floats(earlier);
    const float* values = keys + padded_positions * heads * head_size;
    return {keys, values, head_size, positions * head_size, positions, padded_positions};
}

int8_t* CrossAttentionCache::codes(size_t earlier) const {
    return reinterpret_cast<int8_t*>(data) + earlier * 2 * positions;
}

std::vector<CrossAttentionCache> allocate_caches(Buffer<std::byte>& memory, Sources sources,
                                                 const Architecture& architecture, const CacheLayout& layout) {
    // Sentences start on a cache line.
    auto sentence_size = [&](size_t positions) {
        size_t keys = layout.codes ? positions : round_up(positions, position_padding);
        return round_up((keys + positions) * layout.position_size() / 2, buffer_alignment);
    };
    size_t size = 0;
    for (std::span<const uint32_t> source : sources)
        size += sentence_size(architecture.source_positions(source.size()));
    std::byte* data = memory.ensure(size);
    std::vector<CrossAttentionCache> caches;
    for (std::span<const uint32_t> source : sources) {
        size_t positions = architecture.source_positions(source.size());
        caches.push_back({data, positions, round_up(positions, position_padding)});
        data += sentence_size(positions);
    }
    return caches;
}

}  // namespace pocketmt
