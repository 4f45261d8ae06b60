// The decoder's state: what each target position of a hypothesis stores for later positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/layers/cross_attention_cache.h"
#include "model/runtime/buffer.h"

namespace pocketmt {

// One hypothesis in a step of the decoder.
struct DecoderRow {
    std::optional<uint32_t> token;                     // the decoder's input; none: zeros
    const CrossAttentionCache* cross_attention_cache;  // rows of one sentence are neighbours
    std::byte* const* states;  // states of positions 0 to the step's; the step writes the last one
    // Zeros, to which the mean attention to the source positions, end of sentence included, is added; null: not wanted.
    float* attention = nullptr;
};

// States of target positions, one for each hypothesis and step, which hypotheses share. A state has the elements of all
// decoder layers in the order in which they are run: key and value of self-attention, the cell of a recurrent unit, or
// hidden state and cell of an LSTM. An element is a float, or a code in a network that attends to codes. A state never
// moves.
class StatePool {
  public:
    // state_size: bytes of a state.
    explicit StatePool(size_t state_size);

    std::byte* take();
    void give_back(std::byte* state) { free_.push_back(state); }
    // Takes all states back; frees them if they have more than `bytes`. Does not throw.
    void reset(size_t bytes);

  private:
    void free_block(Buffer<std::byte>& block);

    size_t state_bytes_;
    size_t block_states_;
    std::vector<Buffer<std::byte>> blocks_;
    std::vector<std::byte*> free_;
};

}  // namespace pocketmt
