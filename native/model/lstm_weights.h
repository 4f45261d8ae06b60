// The weights of a deep LSTM, packed for one instruction set.
#pragma once

#include <vector>

#include "model/weights.h"

namespace pocketmt {

// Rows of i, f, o and g are input x + recurrent h, h being that of the position before.
struct Lstm {
    size_t size;
    Linear input;      // [4 size, inputs]
    Linear recurrent;  // [4 size, size]
};

struct RecurrentLayer {
    Lstm lstm;
    Norm norm;  // after the residual connection
};

struct LstmWeights {
    Arena arena;
    std::vector<Lstm> directions;  // of the first encoder layer: from left to right, from right to left
    Norm directions_norm;
    std::vector<RecurrentLayer> encoder;  // the further layers
    std::vector<RecurrentLayer> decoder;  // all layers; the first reads the embedding, and attends
    CrossAttention cross_attention;
    Norm cross_attention_norm;
    Linear readout;  // [d, h]
};

// Reads every tensor that `architecture` calls for; throws ModelError naming the first that is missing or wrong.
LstmWeights load_lstm(const Kernels& kernels, const Architecture& architecture, const TensorSource& source);

}  // namespace pocketmt
