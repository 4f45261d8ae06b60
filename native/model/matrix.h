// A weight matrix: row groups, each packed for the kernel of its family.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/activations.h"
#include "model/arena.h"
#include "model/tensor_source.h"

namespace pocketmt {

class Matrix {
  public:
    // Packs `name` [rows, columns] into `arena`, and releases its bytes of the file. Throws ModelError naming what is
    // wrong.
    Matrix(const Kernels& kernels, Arena& arena, const TensorSource& source, const std::string& name, size_t rows,
           size_t columns);

    // out [count, rows] (rows `out_stride` apart) = activations [count, columns] times this matrix transposed.
    void multiply(Activations& activations, const Epilogue& epilogue, float* out, size_t out_stride) const;
    // One row as floats [columns].
    void unpack_row(size_t row, float* out) const;

    size_t rows() const { return rows_; }

  private:
    enum class Family { plain, integer, level_table };
    struct Group {
        Family family;
        size_t first_row;
        size_t rows;
        void* packed;
    };

    void pack_plain(Arena& arena, const TensorSource& source, const std::string& name);
    void pack_group(Arena& arena, const TensorSource& source, const std::string& name,
                    const GroupDescription& description);
    void pack_integer(Arena& arena, const TensorSource& source, const std::string& prefix, Group& group);
    void pack_level_table(Arena& arena, const TensorSource& source, const std::string& prefix,
                          const GroupDescription& description, Group& group);

    const Kernels* kernels_;
    size_t rows_;
    size_t columns_;
    std::vector<Group> groups_;
};

}  // namespace pocketmt
