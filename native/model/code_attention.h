// Attention whose queries, keys and values lie on trained grids: keys and values are kept as codes, a row a position.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/network.h"
#include "model/workspace.h"

namespace pocketmt {

class CodeAttention {
  public:
    CodeAttention(const Network& network, Workspace& workspace, const AttentionGrids& grids, size_t heads,
                  size_t positions);

    // Rows of codes [a] of a position that queries attend to; every one is to be given before the first query.
    void set_position(size_t position, const int8_t* key, const int8_t* value) {
        keys_[position] = key;
        values_[position] = value;
    }
    // The same of all positions: codes [positions, a] of keys, then of values.
    void set_positions(const int8_t* codes);

    // query [a] -> out [a].
    void attend(const float* query, float* out) const;

  private:
    const Network& network_;
    const AttentionGrids& grids_;
    size_t heads_;
    size_t positions_;
    const int8_t** keys_;
    const int8_t** values_;
    AttentionScratch scratch_;
};

// Codes of `count` rows of keys and values, projected [count, stride] (key [a], then value [a]) -> codes: keys
// [count, a], then values [count, a].
void code_keys_and_values(const Network& network, const AttentionGrids& grids, size_t a, const float* projected,
                          size_t stride, size_t count, int8_t* codes);

}  // namespace pocketmt
