// Keys and values of source sentences, computed once and read by each step of the decoder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"
#include "model/description/architecture.h"
#include "model/runtime/buffer.h"

namespace pocketmt {

// Source sentences: ids without eos.
using Sources = std::span<const std::span<const uint32_t>>;

// Keys and values of one source sentence, for each decoder layer whose weights are stored. In floats: keys transposed
// per head [heads, head size, padded positions], then values per head [heads, positions, head size]. In codes: keys
// [positions, a], then values [positions, a].
struct CrossAttentionCache {
    std::byte* data;
    size_t positions;
    size_t padded_positions;

    // earlier: elements of a query in all layers before this one; heads: of this layer.
    float* floats(size_t earlier) const;
    KeysAndValues keys_and_values(size_t earlier, size_t heads, size_t head_size) const;
    int8_t* codes(size_t earlier) const;
};

// Elements of a query in all layers together, and whether keys and values are codes.
struct CacheLayout {
    size_t elements;
    bool codes;

    // Bytes of a source position, without padding.
    size_t position_size() const { return 2 * elements * (codes ? sizeof(int8_t) : sizeof(float)); }
};

// A cache for each sentence, to be filled, all within `memory`.
std::vector<CrossAttentionCache> allocate_caches(Buffer<std::byte>& memory, Sources sources,
                                                 const Architecture& architecture, const CacheLayout& layout);

// encode(sources, caches) for each group of consecutive sentences that have at most `tokens` tokens together, or are
// one sentence.
template <class Encode>
void for_each_group(Sources sources, std::span<const CrossAttentionCache> caches, size_t tokens, Encode&& encode) {
    for (size_t first = 0; first < sources.size();) {
        size_t end = first, total = 0;
        while (end < sources.size() && (end == first || total + caches[end].positions <= tokens))
            total += caches[end++].positions;
        encode(sources.subspan(first, end - first), caches.subspan(first, end - first));
        first = end;
    }
}

}  // namespace pocketmt
