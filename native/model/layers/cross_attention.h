// Attention of the decoder to the source, in floats.
#pragma once

#include <cstddef>
#include <span>

#include "model/layers/decoder_state.h"
#include "model/layers/network_base.h"
#include "model/layers/workspace.h"
#include "model/weights/linear.h"

namespace pocketmt {

struct CrossAttention {
    size_t heads;
    Linear query;      // [a, d]
    Linear key_value;  // [2a, d]
    Linear output;     // [d, a]
    AttentionQuantization quantization;
    QuantizationParameters attended;  // [a]: input of `output`
};

// body(cache, first, end) for each run of rows, `first` to `end` - 1, of the same sentence.
template <class Body>
void for_each_sentence(std::span<const DecoderRow> rows, Body&& body) {
    for (size_t first = 0; first < rows.size();) {
        const CrossAttentionCache* cache = rows[first].cross_attention_cache;
        size_t end = first + 1;
        while (end < rows.size() && rows[end].cross_attention_cache == cache) ++end;
        body(*cache, first, end);
        first = end;
    }
}

// Stores keys and values of one layer, projected [positions of all caches, 2a]. earlier: as in CrossAttentionCache.
void fill_cross_attention_caches(const NetworkBase& network, std::span<const CrossAttentionCache> caches,
                                 size_t earlier, size_t heads, const float* projected);

// Attention of queries [rows, a], each to the cache of its row; out [rows, a].
void attend_to_source(const NetworkBase& network, Workspace& workspace, std::span<const DecoderRow> rows,
                      size_t earlier, size_t heads, const float* queries, float* out);

}  // namespace pocketmt
