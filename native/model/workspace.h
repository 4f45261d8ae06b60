// The memory that one worker works in: grown on need, reused from step to step and from batch to batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/activations.h"
#include "model/buffer.h"
#include "model/network.h"
#include "model/positions.h"

namespace pocketmt {

// Rows of what a position leaves to later ones, one for each hypothesis and step, for all decoder layers in the order
// in which they are run: key, then value of self-attention, the cell of a recurrent unit, or hidden state and cell. An
// element is a float, or a code where the network attends to codes. A row never moves.
class CacheRows {
  public:
    explicit CacheRows(const Network& network);

    std::byte* take();
    void give_back(std::byte* row) { free_.push_back(row); }
    // Takes every row back; frees them where they hold more than `bytes`.
    void reset(size_t bytes);

  private:
    void free_block(Buffer<std::byte>& block);

    size_t row_bytes_;
    size_t block_rows_;
    std::vector<Buffer<std::byte>> blocks_;
    std::vector<std::byte*> free_;
};

struct Workspace {
    explicit Workspace(const Network& network)
        : positions(network.kernels, network.architecture.model_dimension, network.weights.position), cache(network) {}

    // Called after each batch: what a batch of unusual size needed is not kept for ever.
    void reset();

    Positions positions;
    ProductBuffers product;
    Buffer<float> x;          // residual stream [rows, d]
    Buffer<float> normed;     // what a pre-norm sub-layer reads [rows, d]
    Buffer<float> projected;  // queries, keys and values [rows, 3a], or a recurrent unit's products [rows, 2d or 4h]
    Buffer<float> attended;   // [rows, a]
    Buffer<float> update;     // a sub-layer's output [rows, d]
    Buffer<float> inner;      // of a chunk of rows of the feed-forward [rows, f]
    Buffer<float> keys;       // of one sentence, transposed
    Buffer<float> scores;     // attention weights
    // Of an LSTM, for each sentence that is encoded or hypothesis:
    Buffer<float> recurrent;                  // products with the hidden state of the position before [rows, 4h]
    Buffer<float> hidden;                     // that state [rows, h]
    Buffer<float> cells;                      // [rows, h]
    Buffer<float> logits;                     // of a chunk of rows [rows, V]
    std::vector<Buffer<std::byte>> selected;  // of each sentence of a batch: rows of the output matrix
    Buffer<std::byte> memory;                 // keys and values of the source sentences, see Memory
    Buffer<const float*> key_rows;
    Buffer<const float*> value_rows;
    // Of networks that attend to codes:
    Buffer<int8_t> codes;  // keys and values of one sentence
    Buffer<const int8_t*> key_codes;
    Buffer<const int8_t*> value_codes;
    Buffer<int8_t> weight_codes;
    Buffer<int32_t> column_sums;
    CacheRows cache;
};

}  // namespace pocketmt
