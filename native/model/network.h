// A network ready to run: immutable, shared by all workers.
#pragma once

#include "kernels/kernels.h"
#include "model/architecture.h"
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
          shortlist(stored, architecture.vocabulary_size) {}

    const Kernels& kernels;
    const Architecture architecture;
    const Quantizer quantizer;  // of what meets quantized weights
    const Weights weights;
    const Shortlist shortlist;
};

}  // namespace pocketmt
