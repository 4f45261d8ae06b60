// Attention to codes of keys and values, with trained ranges; see "Trained ranges" in docs/reference/model-file.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/layers/network_base.h"
#include "model/layers/workspace.h"

namespace pocketmt {

class CodeAttention {
  public:
    CodeAttention(const NetworkBase& network, Workspace& workspace, const AttentionQuantization& quantization,
                  size_t heads, size_t positions);

    // Codes [a] of key and value at a position. To be set for every position before the first query.
    void set_position(size_t position, const int8_t* key, const int8_t* value) {
        keys_[position] = key;
        values_[position] = value;
    }
    // The same for all positions: codes of keys [positions, a], then of values [positions, a].
    void set_positions(const int8_t* codes);

    // query [a] -> out [a].
    void attend(const float* query, float* out) const;

  private:
    const NetworkBase& network_;
    const AttentionQuantization& quantization_;
    size_t heads_;
    size_t positions_;
    const int8_t** keys_;
    const int8_t** values_;
    AttentionScratch scratch_;
};

// Quantizes `count` rows of keys and values, projected [count, stride] (key [a], then value [a]) -> codes: keys
// [count, a], then values [count, a].
void quantize_keys_and_values(const NetworkBase& network, const AttentionQuantization& quantization, size_t a,
                              const float* projected, size_t stride, size_t count, int8_t* codes);

}  // namespace pocketmt
