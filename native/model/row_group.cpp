#include "model/row_group.h"

#include <algorithm>
#include <cmath>

namespace pocketmt {

namespace {

// A product of so many multiplications is worth a crew's while.
constexpr size_t shared_products = size_t{1} << 18;
// So many parts a thread: one that comes late takes fewer. Each part of a bit plane product makes its tables anew.
constexpr size_t parts_of_thread = 4;
constexpr size_t bit_plane_parts_of_thread = 1;

}  // namespace

void RowGroup::multiply(const Kernels& kernels, Activations& activations, Epilogue epilogue,
                        const Outputs& outputs) const {
    epilogue.offsets = offsets;
    Crew* crew = activations.crew();
    size_t all = std::min(outputs.last, rows) - outputs.first;
    if (crew == nullptr || all * columns * activations.count() < shared_products)
        return multiply_part(kernels, activations, epilogue, outputs);
    if (family != Family::plain) activations.quantized();  // once, before the parts read it
    size_t blocks = (all + part_outputs - 1) / part_outputs;
    size_t of_thread = family == Family::bit_planes ? bit_plane_parts_of_thread : parts_of_thread;
    size_t parts = std::min(blocks, of_thread * (crew->members() + 1));
    crew->run(parts, [&](size_t part) {
        size_t begin = part * blocks / parts * part_outputs;
        size_t end = std::min((part + 1) * blocks / parts * part_outputs, all);
        multiply_part(kernels, activations, epilogue,
                      {outputs.values + begin, outputs.stride, outputs.first + begin, outputs.first + end});
    });
}

void RowGroup::multiply_part(const Kernels& kernels, Activations& activations, const Epilogue& epilogue,
                             const Outputs& outputs) const {
    size_t count = activations.count();
    switch (family) {
        case Family::plain:
            kernels.float_product.multiply(packed, rows, columns, activations.values(), columns, count, epilogue,
                                           outputs);
            break;
        case Family::integer:
            kernels.integer_product.multiply(packed, rows, columns, activations.quantized(), count, epilogue, outputs);
            break;
        case Family::six_bit:
            kernels.six_bit_product.multiply(packed, rows, columns, activations.quantized(), count, epilogue, outputs);
            break;
        case Family::level_table:
            kernels.level_table_product.multiply(packed, rows, columns, activations.quantized(), count, epilogue,
                                                 outputs);
            break;
        case Family::row_table:
            kernels.row_table_product.multiply(packed, rows, columns, activations.quantized(), count, epilogue,
                                               outputs);
            break;
        case Family::bit_planes:
            kernels.bit_plane_product.multiply(packed, rows, columns, bits, activations.quantized(), count, epilogue,
                                               outputs);
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
        case Family::row_table:
            kernels.row_table_product.unpack_row(packed, rows, columns, row, out);
            break;
        case Family::bit_planes:
            kernels.bit_plane_product.unpack_row(packed, rows, columns, bits, row, out);
            break;
    }
    if (offsets != nullptr) {
        for (size_t column = 0; column < columns; ++column) out[column] += offsets[row];
    }
    if (level_scales != nullptr) {
        const float scale = level_scales[row];
        for (size_t column = 0; column < columns; ++column)
            out[column] = scale == 0.0f ? 0.0f : std::nearbyint(out[column] / scale) * scale;
    }
}

size_t RowGroup::packed_bytes(const Kernels& kernels, size_t count) const {
    switch (family) {
        case Family::plain:
            return kernels.float_product.packed_bytes(count, columns);
        case Family::integer:
            return kernels.integer_product.packed_bytes(count, columns);
        case Family::six_bit:
            return kernels.six_bit_product.packed_bytes(count, columns);
        case Family::level_table:
            return kernels.level_table_product.packed_bytes(count, columns);
        case Family::row_table:
            return kernels.row_table_product.packed_bytes(count, columns);
        case Family::bit_planes:
            return kernels.bit_plane_product.packed_bytes(count, columns, bits);
    }
    __builtin_unreachable();
}

size_t RowGroup::gathered_bytes(const Kernels& kernels, size_t count) const {
    size_t own = offsets == nullptr ? 0 : count * sizeof(float);
    return round_up(packed_bytes(kernels, count), buffer_alignment) + round_up(own, buffer_alignment);
}

RowGroup RowGroup::gather(const Kernels& kernels, std::span<const uint32_t> indices, std::byte* memory) const {
    size_t count = indices.size();
    switch (family) {
        case Family::plain:
            kernels.float_product.gather(packed, rows, columns, indices.data(), count, memory);
            break;
        case Family::integer:
            kernels.integer_product.gather(packed, rows, columns, indices.data(), count, memory);
            break;
        case Family::six_bit:
            kernels.six_bit_product.gather(packed, rows, columns, indices.data(), count, memory);
            break;
        case Family::level_table:
            kernels.level_table_product.gather(packed, rows, columns, indices.data(), count, memory);
            break;
        case Family::row_table:
            kernels.row_table_product.gather(packed, rows, columns, indices.data(), count, memory);
            break;
        case Family::bit_planes:
            kernels.bit_plane_product.gather(packed, rows, columns, bits, indices.data(), count, memory);
            break;
    }
    if (offsets == nullptr) return {family, count, columns, bits, nullptr, memory};
    float* own = reinterpret_cast<float*>(memory + round_up(packed_bytes(kernels, count), buffer_alignment));
    for (size_t i = 0; i < count; ++i) own[i] = offsets[indices[i]];
    return {family, count, columns, bits, own, memory};
}

}  // namespace pocketmt
