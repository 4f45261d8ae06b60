// Rows of a matrix that share a scheme, packed for the kernel of their family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/kernels.h"
#include "model/activations.h"
#include "model/arena.h"
#include "model/tensor_source.h"

namespace pocketmt {

struct RowGroup {
    enum class Family { plain, integer, six_bit, level_table, row_table, bit_planes };

    Family family;
    size_t rows;
    size_t columns;
    size_t bits;           // of bit planes
    const float* offsets;  // [rows], added to every weight of a row; null where there are none
    void* packed;
    // [rows], where weights are whole numbers of these, but packed as sums that rounding touches; null elsewhere. Rows
    // that are gathered have none: they are multiplied with, not unpacked.
    const float* level_scales = nullptr;

    // outputs [count, rows] = activations times these rows transposed. The epilogue has no offsets. A large product is
    // made in parts by the activations' crew.
    void multiply(const Kernels& kernels, Activations& activations, Epilogue epilogue, const Outputs& outputs) const;
    // One row as floats [columns].
    void unpack_row(const Kernels& kernels, size_t row, float* out) const;
    // Bytes that `count` of these rows take by themselves.
    size_t gathered_bytes(const Kernels& kernels, size_t count) const;
    // The rows of `indices`, at least one, packed by themselves into `memory`, buffer-aligned. Each gives the same
    // products, bit for bit, as here.
    RowGroup gather(const Kernels& kernels, std::span<const uint32_t> indices, std::byte* memory) const;

  private:
    void multiply_part(const Kernels& kernels, Activations& activations, const Epilogue& epilogue,
                       const Outputs& outputs) const;
    size_t packed_bytes(const Kernels& kernels, size_t count) const;
};

// Packs into `arena` and releases the bytes of the file. Throws ModelError naming what is wrong.
RowGroup pack_plain(const Kernels& kernels, Arena& arena, const TensorSource& source, const std::string& name,
                    size_t rows, size_t columns);
// The tensors' names begin with `prefix`; description.rows is known to be sound.
RowGroup pack_row_group(const Kernels& kernels, Arena& arena, const TensorSource& source, const std::string& prefix,
                        const GroupDescription& description, size_t columns);

}  // namespace pocketmt
