// The Transformer, with self-attention, recurrent units or average attention in the decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/layers/decoder_state.h"
#include "model/layers/network_base.h"
#include "model/runtime/monitor.h"
#include "model/transformer/positions.h"
#include "model/transformer/weights.h"

namespace pocketmt {

// An activation function, element by element; null: relu, which is part of the product.
using Activate = void (*)(size_t size, float* x);

// Its functions are described in model/network.h.
struct Transformer : NetworkBase {
    Transformer(const Kernels& table, const TransformerArchitecture& described, const TensorSource& source,
                unsigned activation_bits);

    std::vector<CrossAttentionCache> encode(Workspace& workspace, Sources sources, Monitor& monitor) const;
    const float* decode_step(Workspace& workspace, std::span<const DecoderRow> rows, size_t position) const;
    size_t state_size() const;
    size_t source_state_size() const { return cache_layout().position_size(); }
    bool reads_all_states() const { return weights.decoder_layers.front().self_attention.has_value(); }

    CacheLayout cache_layout() const { return {shape.cross_attention_queries(), weights.attends_to_codes}; }
    // out [d] = row `piece` of a matrix of embeddings, scaled, + `position` [d]; no piece: zeros + `position`.
    void embed(const Matrix& embeddings, std::optional<uint32_t> piece, const float* position, float* out) const;

    TransformerArchitecture shape;
    Activate activate;          // of the feed-forward networks
    Activate average_activate;  // of those of average attention
    TransformerWeights weights;
    PositionEncoding positions;
};

}  // namespace pocketmt
