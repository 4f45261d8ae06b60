// A weight matrix: row groups, each packed for the kernel of its family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/activations.h"
#include "model/arena.h"
#include "model/row_group.h"
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
    // The outputs alone that are asked for, of a matrix that comes apart.
    void multiply_part(Activations& activations, const Epilogue& epilogue, const Outputs& outputs) const;
    // Whether its outputs can be made in parts at no greater cost: row groups may lie scattered, and each part of a bit
    // plane product makes its tables anew.
    bool comes_apart() const {
        return parts_.size() == 1 && parts_.front().group.family != RowGroup::Family::bit_planes;
    }
    // One row as floats [columns].
    void unpack_row(size_t row, float* out) const;

    // Some rows, ascending, as a matrix of their own, packed into `memory`, which must live and be left alone as long
    // as it is used. A row gives the same products, bit for bit, as here.
    Matrix gather(std::span<const uint32_t> rows, Buffer<std::byte>& memory) const;

    size_t rows() const { return rows_; }
    // Of its packed rows.
    size_t bytes() const;
    // Whether it meets activations as codes, not as floats.
    bool quantized() const { return parts_.front().group.family != RowGroup::Family::plain; }
    // Of each row's weights.
    std::vector<double> row_sums() const;

  private:
    struct Part {
        RowGroup group;
        size_t first_row;                      // of the matrix, where the group is a run of rows
        std::vector<uint32_t> scattered_rows;  // of the matrix, ascending, where it is not: the group's rows in order
    };
    struct Place {
        uint32_t part;
        uint32_t row;  // of the part's group
    };

    // Without a row yet.
    Matrix(const Kernels& kernels, size_t rows, float activation_scale)
        : kernels_(&kernels), rows_(rows), activation_scale_(activation_scale) {}

    void check_rows(const std::string& name, const std::vector<GroupDescription>& groups) const;
    void scatter(const TensorSource& source, const std::string& name);
    Place place(size_t row) const;
    static void multiply_scattered(const Kernels& kernels, const Part& part, Activations& activations,
                                   const Epilogue& epilogue, float* out, size_t out_stride);

    const Kernels* kernels_;
    size_t rows_;
    float activation_scale_ = 0.0f;  // of the codes that it meets, where these are calibrated; else 0
    std::vector<Part> parts_;
    std::vector<Place> places_;  // of each row, where groups lie scattered
};

}  // namespace pocketmt
