// A weight matrix: row groups, each packed for the product of its family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/runtime/arena.h"
#include "model/weights/activations.h"
#include "model/weights/row_group.h"
#include "model/weights/tensor_source.h"

namespace pocketmt {

class Matrix {
  public:
    // Packs `name` [rows, columns] into `arena`, and releases its bytes of the file. Throws ModelError naming what is
    // wrong.
    Matrix(const Kernels& kernels, Arena& arena, const TensorSource& source, const std::string& name, size_t rows,
           size_t columns);

    // out [count, rows] (rows `out_stride` apart) = activations [count, columns] times this matrix transposed.
    void multiply(Activations& activations, const Epilogue& epilogue, float* out, size_t out_stride) const;
    // Computes the given outputs only; the matrix must be splittable.
    void multiply_part(Activations& activations, const Epilogue& epilogue, const Outputs& outputs) const;
    // Whether several calls for some outputs each cost no more than one call for all.
    bool splittable() const { return parts_.size() == 1 && !parts_.front().group.product->tabulates_input; }
    // Writes one row as floats [columns].
    void unpack_row(size_t row, float* out) const;

    // Copies some rows, ascending, to a matrix in `memory`, which must live and stay unchanged as long as that matrix
    // is used. Each row gives the same products, bit for bit, as before.
    Matrix gather(std::span<const uint32_t> rows, Buffer<std::byte>& memory) const;

    size_t rows() const { return rows_; }
    // Number of bytes of its packed rows.
    size_t bytes() const;
    // Whether it is multiplied by codes of activations, not by floats.
    bool quantized() const { return parts_.front().group.product->quantized_input; }
    // The sum of each row's weights.
    std::vector<double> row_sums() const;

  private:
    struct Part {
        RowGroup group;
        size_t first_row;                      // Of the matrix, if the group is a run of rows.
        std::vector<uint32_t> scattered_rows;  // Otherwise the matrix's rows, ascending, that the group holds in order.
    };
    struct Place {
        uint32_t part;
        uint32_t row;  // Of the part's group.
    };

    // A matrix without rows, which gather() adds.
    Matrix(size_t rows, float activation_scale) : rows_(rows), activation_scale_(activation_scale) {}

    void check_rows(const std::string& name, const std::vector<GroupDescription>& groups) const;
    void scatter(const TensorSource& source, const std::string& name);
    Place place(size_t row) const;
    static void multiply_scattered(const Part& part, Activations& activations, const Epilogue& epilogue, float* out,
                                   size_t out_stride);

    size_t rows_;
    float activation_scale_ = 0.0f;  // The calibrated scale of the activations, or 0.
    std::vector<Part> parts_;
    std::vector<Place> places_;  // Of each row, if groups lie scattered.
};

}  // namespace pocketmt
