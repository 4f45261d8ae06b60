// The encoder, run over sentences laid one after the other without padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/monitor.h"
#include "model/network.h"
#include "model/workspace.h"

namespace pocketmt {

// Cross-attention keys and values of one source sentence, for each decoder layer: keys transposed per head
// [heads, head size, padded positions], then values [positions, a].
struct Memory {
    float* data;
    size_t positions;
    size_t padded_positions;

    AttentionMemory layer(size_t index, size_t attention_dimension) const;
    static size_t layer_size(size_t positions, size_t attention_dimension);
};

// Encodes `sources` (ids without eos, which is appended here) and computes their memories, which lie in
// workspace.memory.
std::vector<Memory> encode(const Network& network, Workspace& workspace,
                           std::span<const std::span<const uint32_t>> sources, Monitor& monitor);

}  // namespace pocketmt
