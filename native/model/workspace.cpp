#include "model/workspace.h"

#include <algorithm>

namespace pocketmt {

namespace {

constexpr size_t kept_bytes = size_t{4} << 20;  // of each buffer, between batches
constexpr size_t block_bytes = size_t{2} << 20;
constexpr size_t line_floats = buffer_alignment / sizeof(float);

}  // namespace

// One cache line more than the keys and values need: a power-of-two distance between rows would make the same layer of
// all positions compete for the same few sets of the first-level cache.
CacheRows::CacheRows(const Architecture& architecture)
    : row_size_(round_up(2 * architecture.decoder_layers * architecture.attention_dimension, line_floats) +
                line_floats),
      block_rows_(std::max<size_t>(1, block_bytes / (row_size_ * sizeof(float)))) {}

float* CacheRows::take() {
    if (free_.empty()) free_block(blocks_.emplace_back(block_rows_ * row_size_));
    float* row = free_.back();
    free_.pop_back();
    return row;
}

void CacheRows::free_block(Buffer<float>& block) {
    for (size_t row = block_rows_; row-- > 0;) free_.push_back(block.data() + row * row_size_);
}

void CacheRows::reset(size_t bytes) {
    size_t rows = blocks_.size() * block_rows_;
    bool too_large = rows * row_size_ * sizeof(float) > bytes;
    if (too_large) blocks_.clear();
    if (too_large || free_.size() < rows) {
        free_.clear();
        for (Buffer<float>& block : blocks_) free_block(block);
    }
}

void Workspace::reset() {
    for (Buffer<float>* buffer :
         {&x, &normed, &projected, &attended, &update, &inner, &keys, &scores, &logits, &memory}) {
        buffer->trim(kept_bytes);
    }
    key_rows.trim(kept_bytes);
    value_rows.trim(kept_bytes);
    product.trim(kept_bytes);
    positions.trim(kept_bytes);
    cache.reset(kept_bytes);
}

}  // namespace pocketmt
