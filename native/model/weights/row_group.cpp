#include "model/weights/row_group.h"

#include <algorithm>
#include <cmath>

namespace pocketmt {

namespace {

// Fewest multiply-adds of a product that are worth splitting across threads.
constexpr size_t shared_products = size_t{1} << 18;
// Number of parts for each thread: a thread that starts late takes fewer of them.
constexpr size_t parts_of_thread = 4;

}  // namespace

void RowGroup::multiply(Activations& activations, Epilogue epilogue, const Outputs& outputs) const {
    epilogue.offsets = offsets;
    ProductInput input = activations.input(product->quantized_input);
    ProductSharing* sharing = activations.sharing();
    size_t all = std::min(outputs.last, rows()) - outputs.first;
    if (sharing == nullptr || all * columns() * input.count < shared_products)
        return product->multiply(matrix, input, epilogue, outputs);
    size_t blocks = (all + part_outputs - 1) / part_outputs;
    size_t of_thread = product->tabulates_input ? 1 : parts_of_thread;
    size_t parts = std::min(blocks, of_thread * (sharing->workers() + 1));
    sharing->run(parts, [&](size_t part) {
        size_t begin = part * blocks / parts * part_outputs;
        size_t end = std::min((part + 1) * blocks / parts * part_outputs, all);
        product->multiply(matrix, input, epilogue,
                          {outputs.values + begin, outputs.stride, outputs.first + begin, outputs.first + end});
    });
}

void RowGroup::unpack_row(size_t row, float* out) const {
    product->unpack_row(matrix, row, out);
    if (offsets != nullptr) {
        for (size_t column = 0; column < columns(); ++column) out[column] += offsets[row];
    }
    if (level_scales != nullptr) {
        const float scale = level_scales[row];
        for (size_t column = 0; column < columns(); ++column)
            out[column] = scale == 0.0f ? 0.0f : std::nearbyint(out[column] / scale) * scale;
    }
}

size_t RowGroup::packed_bytes(size_t count) const {
    return product->packed_bytes({count, columns(), matrix.shape.bits});
}

size_t RowGroup::gathered_bytes(size_t count) const {
    size_t own = offsets == nullptr ? 0 : count * sizeof(float);
    return round_up(packed_bytes(count), buffer_alignment) + round_up(own, buffer_alignment);
}

RowGroup RowGroup::gather(std::span<const uint32_t> indices, std::byte* memory) const {
    size_t count = indices.size();
    product->gather(matrix, indices.data(), count, memory);
    PackedMatrix gathered{memory, {count, columns(), matrix.shape.bits}};
    if (offsets == nullptr) return {product, gathered, nullptr};
    float* own = reinterpret_cast<float*>(memory + round_up(packed_bytes(count), buffer_alignment));
    for (size_t i = 0; i < count; ++i) own[i] = offsets[indices[i]];
    return {product, gathered, own};
}

}  // namespace pocketmt
