// Packed 8-bit weights that say whether one of them is -128, for instruction sets that multiply such weights in another
// way: a block of BytePanels<0>, then an int32 that is 1 if there is one, padded to 64 bytes.
#pragma once

#include <cstring>

#include "integer_product/panels.h"

namespace pocketmt {
namespace {

struct MarkedPanels {
    using Panels = BytePanels<0>;
    static constexpr size_t mark_bytes = 64;

    static size_t mark_place(const MatrixShape& shape) { return round_up(Panels::packed_bytes(shape), mark_bytes); }
    static size_t packed_bytes(const MatrixShape& shape) { return mark_place(shape) + mark_bytes; }
    static void pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed) {
        Panels::pack(weights, shape, packed);
        int8_t least = 0;
        for (size_t i = 0; i < shape.rows * shape.columns; ++i)
            least = weights.integers[i] < least ? weights.integers[i] : least;
        set_mark(packed, shape, least == -128);
    }
    static void unpack_row(const PackedMatrix& matrix, size_t row, float* out) { Panels::unpack_row(matrix, row, out); }
    static void gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered) {
        Panels::gather(matrix, indices, count, gathered);
        set_mark(gathered, {count, matrix.shape.columns}, marked(matrix));
    }
    static bool marked(const PackedMatrix& matrix) {
        int32_t mark;
        std::memcpy(&mark, static_cast<const uint8_t*>(matrix.data) + mark_place(matrix.shape), sizeof mark);
        return mark != 0;
    }

  private:
    static void set_mark(void* packed, const MatrixShape& shape, bool value) {
        const int32_t mark = value;
        std::memcpy(static_cast<uint8_t*>(packed) + mark_place(shape), &mark, sizeof mark);
    }
};

}  // namespace
}  // namespace pocketmt
