// A deep LSTM with attention (Aji and Heafield 2020, section 4.1).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/layers/decoder_state.h"
#include "model/layers/network_base.h"
#include "model/lstm/weights.h"
#include "model/runtime/monitor.h"

namespace pocketmt {

// Its functions are described in model/network.h.
struct Lstm : NetworkBase {
    Lstm(const Kernels& table, const LstmArchitecture& described, const TensorSource& source);

    std::vector<CrossAttentionCache> encode(Workspace& workspace, Sources sources, Monitor& monitor) const;
    const float* decode_step(Workspace& workspace, std::span<const DecoderRow> rows, size_t position) const;
    // Hidden state and cell of each layer.
    size_t state_size() const { return 2 * h * weights.decoder.size() * sizeof(float); }
    size_t source_state_size() const { return cache_layout().position_size(); }
    bool reads_all_states() const { return false; }

    CacheLayout cache_layout() const { return {architecture.attention_dimension, false}; }
    // out [d] = embedding of `piece` * sqrt(d).
    void embed(uint32_t piece, float* out) const;
    // x = LN(update + x), or LN(update) without the residual connection; [rows, h].
    void normalize(const Norm& norm, const float* update, bool residual, size_t rows, float* x) const;

    size_t h;  // recurrent dimension
    LstmWeights weights;
};

}  // namespace pocketmt
