#include "model/layers/decoder_state.h"

#include <algorithm>

namespace pocketmt {

namespace {

constexpr size_t block_bytes = size_t{256} << 10;  // small enough for pages that one sentence fills

}  // namespace

// One cache line more than a state needs: if states were a power of two apart, the same layer of all positions would
// compete for the same few sets of the first-level cache.
StatePool::StatePool(size_t state_size)
    : state_bytes_(round_up(state_size, buffer_alignment) + buffer_alignment),
      block_states_(std::max<size_t>(1, block_bytes / state_bytes_)) {}

std::byte* StatePool::take() {
    if (free_.empty()) {
        free_.reserve((blocks_.size() + 1) * block_states_);  // so that reset needs no memory
        free_block(blocks_.emplace_back(block_states_ * state_bytes_));
    }
    std::byte* state = free_.back();
    free_.pop_back();
    return state;
}

void StatePool::free_block(Buffer<std::byte>& block) {
    for (size_t state = block_states_; state-- > 0;) free_.push_back(block.data() + state * state_bytes_);
}

void StatePool::reset(size_t bytes) {
    size_t states = blocks_.size() * block_states_;
    bool too_large = states * state_bytes_ > bytes;
    if (too_large) blocks_.clear();
    if (too_large || free_.size() < states) {
        free_.clear();
        for (Buffer<std::byte>& block : blocks_) free_block(block);
    }
}

}  // namespace pocketmt
