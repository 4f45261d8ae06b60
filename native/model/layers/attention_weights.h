// Weights of the attention to the source, for callers that want an alignment. The network itself does not need them.
#pragma once

#include <span>

#include "model/layers/cross_attention.h"

namespace pocketmt {

// Adds the mean of the heads' softmax(q K^T / sqrt(head size)), divided by `layers`, to each row that asks for it;
// other rows cost nothing. queries [rows, a]; earlier: as in CrossAttentionCache; layers: with attention to the source.
// Of codes, the weights are those before they are rounded.
void add_attention(const NetworkBase& network, const CrossAttention& layer, bool codes,
                   std::span<const DecoderRow> rows, size_t earlier, const float* queries, size_t layers);

}  // namespace pocketmt
