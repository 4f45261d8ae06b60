// The trained ranges of a fully quantized model ([Q1-Q5]) as grids: one concept, absent from other models.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "kernels/kernels.h"
#include "model/arena.h"
#include "model/tensor_source.h"

namespace pocketmt {

// Hands out the grids of each operation in the order of the network. In a model whose activations are not quantized
// every grid is absent.
class Ranges {
  public:
    // bits: of a code, 2 to 8; 0 where activations are not quantized. Throws ModelError.
    Ranges(const TensorSource& source, Arena& arena, unsigned bits);

    // The next grid of an operation of rows of `elements` elements; absent where the file does not quantize it. The
    // elements are repeated: once for each head, where heads share a range. Throws ModelError naming the tensor.
    Grid next(const std::string& operation, size_t elements, size_t repeated = 1);
    // Throws ModelError unless every range was handed out.
    void finish() const;

  private:
    Grid make(const float* minima, const float* maxima, size_t elements, size_t repeated) const;

    const TensorSource& source_;
    Arena& arena_;
    unsigned bits_;
    std::map<std::string, size_t> taken_;  // operation -> grids handed out
};

// Puts rows on a grid where there is one.
inline void snap(const Kernels& kernels, const Grid& grid, float* x, size_t count, size_t columns) {
    if (grid.present()) kernels.grid.snap(grid, count, columns, x);
}

}  // namespace pocketmt
