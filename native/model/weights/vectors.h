// Biases and norms, decoded to float32 at load. They are few, and no product uses their codes.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/kernels.h"
#include "model/runtime/arena.h"
#include "model/weights/matrix.h"
#include "model/weights/tensor_source.h"

namespace pocketmt {

class Vectors {
  public:
    // `source` must outlive this.
    Vectors(const Kernels& kernels, const TensorSource& source);

    // A vector of `size` finite elements: a plain tensor, or a row of a vector group. Throws ModelError naming the
    // vector.
    std::vector<float> values(const std::string& name, size_t size);

  private:
    struct Row {
        size_t group;
        size_t row;
    };
    struct Group {
        size_t columns;
        Matrix matrix;
    };

    const Matrix& group(size_t index, const std::string& name, size_t columns);

    const Kernels& kernels_;
    const TensorSource& source_;
    Arena arena_;
    std::unordered_map<std::string, Row> rows_;  // by the name of the vector
    std::unordered_map<size_t, Group> packed_;   // by index, if used
};

}  // namespace pocketmt
