// The weights of a deep LSTM, packed for one instruction set.
#pragma once

#include <vector>

#include "model/description/architecture.h"
#include "model/layers/cross_attention.h"
#include "model/weights/linear.h"
#include "model/weights/tensor_source.h"

namespace pocketmt {

// Rows of i, f, o and g are input x + recurrent h, where h is the hidden state of the previous position.
struct LstmUnit {
    size_t size;
    Linear input;      // [4 size, inputs]
    Linear recurrent;  // [4 size, size]
};

struct RecurrentLayer {
    LstmUnit unit;
    Norm norm;  // after the residual connection
};

struct LstmWeights {
    std::vector<LstmUnit> directions;  // of the first encoder layer: from left to right, from right to left
    Norm directions_norm;
    std::vector<RecurrentLayer> encoder;  // layers from the second on
    std::vector<RecurrentLayer> decoder;  // all layers; the first reads the embedding and attends to the source
    CrossAttention cross_attention;
    Norm cross_attention_norm;
    Linear readout;  // [d, h]
};

// Reads every tensor of the description; throws ModelError naming the first that is missing or wrong.
LstmWeights load_lstm(const Kernels& kernels, Arena& arena, const LstmArchitecture& architecture,
                      const TensorSource& source);

}  // namespace pocketmt
