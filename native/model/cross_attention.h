// Attention of the decoder to the source in floats, whatever the architecture.
#pragma once

#include <cstddef>
#include <span>

#include "model/decoder.h"
#include "model/encoder.h"

namespace pocketmt {

// body(memory, first, end) for each run of rows, `first` to `end` - 1, that share a memory.
template <class Body>
void for_each_memory(std::span<const DecoderRow> rows, Body&& body) {
    for (size_t first = 0; first < rows.size();) {
        const Memory* memory = rows[first].memory;
        size_t end = first + 1;
        while (end < rows.size() && rows[end].memory == memory) ++end;
        body(*memory, first, end);
        first = end;
    }
}

// Keeps what an attention's key_value gave for the encoder's output: projected [positions of all memories, 2a].
// earlier: as in Memory.
void keep_keys_and_values(const Network& network, std::span<const Memory> memories, size_t earlier, size_t heads,
                          const float* projected);

// queries [rows, a], each attending to its row's memory; out [rows, a].
void attend_memories(const Network& network, Workspace& workspace, std::span<const DecoderRow> rows, size_t earlier,
                     size_t heads, const float* queries, float* out);

}  // namespace pocketmt
