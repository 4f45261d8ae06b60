#include "model/cross_attention.h"

#include <algorithm>

namespace pocketmt {

void keep_keys_and_values(const Network& network, std::span<const Memory> memories, size_t earlier, size_t heads,
                          const float* projected) {
    size_t head_size = network.architecture.head_size, a = heads * head_size;
    for (const Memory& memory : memories) {
        size_t padded = memory.padded_positions;
        float* keys = memory.floats(earlier);
        network.kernels.vector.transpose_keys(projected, 2 * a, memory.positions, heads, head_size, padded, keys);
        float* values = keys + padded * a;
        for (size_t head = 0; head < heads; ++head) {
            const float* column = projected + a + head * head_size;
            for (size_t i = 0; i < memory.positions; ++i, values += head_size)
                std::copy_n(column + i * 2 * a, head_size, values);
        }
        projected += memory.positions * 2 * a;
    }
}

void attend_memories(const Network& network, Workspace& workspace, std::span<const DecoderRow> rows, size_t earlier,
                     size_t heads, const float* queries, float* out) {
    size_t head_size = network.architecture.head_size, a = heads * head_size;
    for_each_memory(rows, [&](const Memory& memory, size_t first, size_t end) {
        float* scores = workspace.scores.ensure(attention_rows * memory.padded_positions);
        network.kernels.vector.attend_memory(queries + first * a, a, end - first, memory.of(earlier, heads, head_size),
                                             heads, head_size, scores, out + first * a, a);
    });
}

}  // namespace pocketmt
