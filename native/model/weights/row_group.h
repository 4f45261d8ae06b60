// Rows of a matrix that share a scheme, packed for the product of their family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/kernels.h"
#include "model/runtime/arena.h"
#include "model/weights/activations.h"
#include "model/weights/tensor_source.h"

namespace pocketmt {

struct RowGroup {
    const Product* product;
    PackedMatrix matrix;
    const float* offsets;  // [rows]: added to every weight of a row; null if there are none.
    // [rows]: the scales of weights that are whole multiples of them but are packed as sums, which rounding changes;
    // null elsewhere. Gathered rows have none, because they are only multiplied.
    const float* level_scales = nullptr;

    size_t rows() const { return matrix.shape.rows; }
    size_t columns() const { return matrix.shape.columns; }

    // outputs [count, rows] = activations times the transposed rows. The epilogue has no offsets. A large product is
    // divided among the activations' thread pool.
    void multiply(Activations& activations, Epilogue epilogue, const Outputs& outputs) const;
    // Writes one row as floats [columns].
    void unpack_row(size_t row, float* out) const;
    // Number of bytes of `count` gathered rows.
    size_t gathered_bytes(size_t count) const;
    // Copies the rows `indices`, at least one, into `memory`, which is aligned to buffer_alignment. Each row gives the
    // same products, bit for bit, as before.
    RowGroup gather(std::span<const uint32_t> indices, std::byte* memory) const;

  private:
    size_t packed_bytes(size_t count) const;
};

// Packs a matrix of floats into `arena` and releases its bytes of the file. Throws ModelError naming what is wrong.
RowGroup pack_plain(const Kernels& kernels, Arena& arena, const TensorSource& source, const std::string& name,
                    size_t rows, size_t columns);
// Packs a group of rows whose tensors' names begin with `prefix`, likewise. description.rows must have been checked.
RowGroup pack_row_group(const Kernels& kernels, Arena& arena, const TensorSource& source, const std::string& prefix,
                        const GroupDescription& description, size_t columns);

}  // namespace pocketmt
