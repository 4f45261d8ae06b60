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

// Cross-attention keys and values of one source sentence, for each decoder layer that has weights of its own: keys
// transposed per head [heads, head size, padded positions], then values per head [heads, positions, head size], in
// floats: one head after the other, as they are read. Where the network attends to codes: codes of keys [positions, a],
// then of values [positions, a].
struct Memory {
    std::byte* data;
    size_t positions;
    size_t padded_positions;

    // earlier: elements of queries of the layers before (DecoderLayer::memory); heads: of the layer itself.
    float* floats(size_t earlier) const;
    AttentionMemory of(size_t earlier, size_t heads, size_t head_size) const;
    int8_t* codes(size_t earlier) const;
};

// Encodes `sources` (ids without eos, which is appended here) and computes their memories, which lie in
// workspace.memory.
std::vector<Memory> encode(const Network& network, Workspace& workspace,
                           std::span<const std::span<const uint32_t>> sources, Monitor& monitor);

}  // namespace pocketmt
