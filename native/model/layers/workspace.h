// The buffers of one worker: grown when needed, reused from step to step and from batch to batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/runtime/buffer.h"
#include "model/weights/activations.h"

namespace pocketmt {

constexpr size_t kept_bytes = size_t{16} << 20;  // of each buffer, between batches

struct Workspace {
    // Called after each batch; frees buffers that a batch of unusual size made large.
    void reset();

    std::vector<float> positions;  // table of position encodings [positions, d]
    ProductBuffers product;
    Buffer<float> x;          // residual stream [rows, d]
    Buffer<float> normed;     // input of a pre-norm sub-layer [rows, d]
    Buffer<float> projected;  // queries, keys and values [rows, 3a], or products of a recurrent layer [rows, 2d or 4h]
    Buffer<float> attended;   // [rows, a]
    Buffer<float> update;     // a sub-layer's output [rows, d]
    Buffer<float> inner;      // of the feed-forward network, for some rows [rows, f]
    Buffer<float> keys;       // of one sentence, transposed
    Buffer<float> scores;     // attention weights
    // Of LSTMs, for each sentence or hypothesis:
    Buffer<float> recurrent;                   // products with the previous hidden state [rows, 4h]
    Buffer<float> hidden;                      // previous hidden state [rows, h]
    Buffer<float> cells;                       // [rows, h]
    Buffer<float> logits;                      // of some rows [rows, V]
    std::vector<Buffer<std::byte>> selected;   // for each sentence of a batch: rows of the output matrix
    Buffer<std::byte> cross_attention_caches;  // of the source sentences
    Buffer<const float*> key_rows;
    Buffer<const float*> value_rows;
    // Of networks that attend to codes:
    Buffer<int8_t> codes;  // keys and values of one sentence
    Buffer<const int8_t*> key_codes;
    Buffer<const int8_t*> value_codes;
    Buffer<int8_t> weight_codes;
    Buffer<int32_t> column_sums;
};

}  // namespace pocketmt
