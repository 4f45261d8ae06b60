// Biases and norms, decoded to float32 at load: the one exception to running from what is stored. They are few, and
// nothing is multiplied with them as codes.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/kernels.h"
#include "model/arena.h"
#include "model/matrix.h"
#include "model/tensor_source.h"

namespace pocketmt {

class Vectors {
  public:
    // `source` must outlive this.
    Vectors(const Kernels& kernels, const TensorSource& source);

    // A vector of `size` finite elements, a plain tensor or a row of a stack. Throws ModelError naming what is wrong.
    std::vector<float> values(const std::string& name, size_t size);

  private:
    struct Row {
        size_t stack;
        size_t row;
    };
    struct Stack {
        size_t columns;
        Matrix matrix;
    };

    const Matrix& stack(size_t index, const std::string& name, size_t columns);

    const Kernels& kernels_;
    const TensorSource& source_;
    Arena arena_;
    std::unordered_map<std::string, Row> rows_;  // by the name of the vector
    std::unordered_map<size_t, Stack> packed_;   // by index, those that were asked for
};

}  // namespace pocketmt
