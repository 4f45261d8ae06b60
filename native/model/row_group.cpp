#include "model/row_group.h"

namespace pocketmt {

void RowGroup::multiply(const Kernels& kernels, Activations& activations, Epilogue epilogue, float* out,
                        size_t out_stride) const {
    size_t count = activations.count();
    epilogue.offsets = offsets;
    switch (family) {
        case Family::plain:
            kernels.float_product.multiply(packed, rows, columns, activations.values(), columns, count, epilogue, out,
                                           out_stride);
            break;
        case Family::integer:
            kernels.integer_product.multiply(packed, rows, columns, activations.quantized(), count, epilogue, out,
                                             out_stride);
            break;
        case Family::six_bit:
            kernels.six_bit_product.multiply(packed, rows, columns, activations.quantized(), count, epilogue, out,
                                             out_stride);
            break;
        case Family::level_table:
            kernels.level_table_product.multiply(packed, rows, columns, activations.quantized(), count, epilogue, out,
                                                 out_stride);
            break;
        case Family::bit_planes:
            kernels.bit_plane_product.multiply(packed, rows, columns, bits, activations.quantized(), count, epilogue,
                                               out, out_stride);
            break;
    }
}

void RowGroup::unpack_row(const Kernels& kernels, size_t row, float* out) const {
    switch (family) {
        case Family::plain:
            kernels.float_product.unpack_row(packed, rows, columns, row, out);
            break;
        case Family::integer:
            kernels.integer_product.unpack_row(packed, rows, columns, row, out);
            break;
        case Family::six_bit:
            kernels.six_bit_product.unpack_row(packed, rows, columns, row, out);
            break;
        case Family::level_table:
            kernels.level_table_product.unpack_row(packed, rows, columns, row, out);
            break;
        case Family::bit_planes:
            kernels.bit_plane_product.unpack_row(packed, rows, columns, bits, row, out);
            break;
    }
    if (offsets != nullptr) {
        for (size_t column = 0; column < columns; ++column) out[column] += offsets[row];
    }
}

}  // namespace pocketmt
