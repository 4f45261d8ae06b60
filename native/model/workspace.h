// The memory that one worker works in: grown on need, reused from step to step and from batch to batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/activations.h"
#include "model/architecture.h"
#include "model/buffer.h"
#include "model/positions.h"

namespace pocketmt {

// Rows of keys and values of the decoder's self-attention, one for each hypothesis and step, for all layers:
// layer l's key is at l * 2a, its value at l * 2a + a. A row never moves.
class CacheRows {
  public:
    explicit CacheRows(const Architecture& architecture);

    float* take();
    void give_back(float* row) { free_.push_back(row); }
    // Takes every row back; frees them where they hold more than `bytes`.
    void reset(size_t bytes);

  private:
    void free_block(Buffer<float>& block);

    size_t row_size_;
    size_t block_rows_;
    std::vector<Buffer<float>> blocks_;
    std::vector<float*> free_;
};

struct Workspace {
    explicit Workspace(const Architecture& architecture)
        : positions(architecture.model_dimension), cache(architecture) {}

    // Called after each batch: what a batch of unusual size needed is not kept for ever.
    void reset();

    Positions positions;
    ProductBuffers product;
    Buffer<float> x;          // residual stream [rows, d]
    Buffer<float> normed;     // what a pre-norm sub-layer reads [rows, d]
    Buffer<float> projected;  // queries, keys and values [rows, 3a]
    Buffer<float> attended;   // [rows, a]
    Buffer<float> update;     // a sub-layer's output [rows, d]
    Buffer<float> inner;      // of a chunk of rows of the feed-forward [rows, f]
    Buffer<float> keys;       // of one sentence, transposed
    Buffer<float> scores;     // attention weights
    Buffer<float> logits;     // of a chunk of rows [rows, V]
    Buffer<float> memory;     // keys and values of the source sentences, see Memory
    Buffer<const float*> key_rows;
    Buffer<const float*> value_rows;
    CacheRows cache;
};

}  // namespace pocketmt
