#include "model/workspace.h"

#include <algorithm>

namespace pocketmt {

namespace {

constexpr size_t kept_bytes = size_t{16} << 20;  // of each buffer, between batches
constexpr size_t kept_selections = 4;
constexpr size_t block_bytes = size_t{256} << 10;  // small enough for pages that one sentence fills

}  // namespace

// One cache line more than the keys and values need: a power-of-two distance between rows would make the same layer of
// all positions compete for the same few sets of the first-level cache.
CacheRows::CacheRows(const Network& network)
    : row_bytes_(round_up(network.architecture.history() * network.weights.attended_bytes(), buffer_alignment) +
                 buffer_alignment),
      block_rows_(std::max<size_t>(1, block_bytes / row_bytes_)) {}

std::byte* CacheRows::take() {
    if (free_.empty()) free_block(blocks_.emplace_back(block_rows_ * row_bytes_));
    std::byte* row = free_.back();
    free_.pop_back();
    return row;
}

void CacheRows::free_block(Buffer<std::byte>& block) {
    for (size_t row = block_rows_; row-- > 0;) free_.push_back(block.data() + row * row_bytes_);
}

void CacheRows::reset(size_t bytes) {
    size_t rows = blocks_.size() * block_rows_;
    bool too_large = rows * row_bytes_ > bytes;
    if (too_large) blocks_.clear();
    if (too_large || free_.size() < rows) {
        free_.clear();
        for (Buffer<std::byte>& block : blocks_) free_block(block);
    }
}

void Workspace::reset() {
    for (Buffer<float>* buffer :
         {&x, &normed, &projected, &attended, &update, &inner, &keys, &scores, &recurrent, &hidden, &cells, &logits})
        buffer->trim(kept_bytes);
    memory.trim(kept_bytes);
    selected.resize(std::min(selected.size(), kept_selections));
    for (Buffer<std::byte>& rows : selected) rows.trim(kept_bytes / kept_selections);
    for (Buffer<const float*>* buffer : {&key_rows, &value_rows}) buffer->trim(kept_bytes);
    for (Buffer<const int8_t*>* buffer : {&key_codes, &value_codes}) buffer->trim(kept_bytes);
    for (Buffer<int8_t>* buffer : {&codes, &weight_codes}) buffer->trim(kept_bytes);
    column_sums.trim(kept_bytes);
    product.trim(kept_bytes);
    positions.trim(kept_bytes);
    cache.reset(kept_bytes);
}

}  // namespace pocketmt
