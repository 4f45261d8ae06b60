// A network ready to run: immutable, shared by all workers.
#pragma once

#include <optional>

#include "kernels/kernels.h"
#include "model/architecture.h"
#include "model/lstm_weights.h"
#include "model/quantizer.h"
#include "model/shortlist.h"
#include "model/tensor_source.h"
#include "model/weights.h"

namespace pocketmt {

struct Network {
    Network(const Kernels& table, const Architecture& shape, const TensorSource& source, unsigned activation_bits,
            const StoredShortlist& stored)
        : kernels(table),
          architecture((check(shape), shape)),
          quantizer(table, source.products()),
          weights(table, shape, source, activation_bits),
          lstm(shape.lstm ? std::optional<LstmWeights>(load_lstm(table, shape, source)) : std::nullopt),
          shortlist(stored, architecture.vocabulary_size) {}

    const Kernels& kernels;
    const Architecture architecture;
    const Quantizer quantizer;  // of what meets quantized weights
    const Weights weights;
    const std::optional<LstmWeights> lstm;  // the layers, where they are none of a Transformer
    const Shortlist shortlist;
};

}  // namespace pocketmt
