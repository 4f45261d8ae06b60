#include "float_product/panels.h"

#include "gather.h"
#include "shapes.h"

namespace pocketmt {

template <size_t width>
size_t FloatPanels<width>::packed_bytes(const MatrixShape& shape) {
    return round_up(shape.rows, width) * shape.columns * sizeof(float);
}

template <size_t width>
void FloatPanels<width>::pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed) {
    const size_t rows = shape.rows, columns = shape.columns;
    float* panel = static_cast<float*>(packed);
    for (size_t first = 0; first < rows; first += width, panel += columns * width) {
        for (size_t lane = 0; lane < width; ++lane) {
            const float* row = first + lane < rows ? weights.floats + (first + lane) * columns : nullptr;
            for (size_t column = 0; column < columns; ++column) panel[column * width + lane] = row ? row[column] : 0.0f;
        }
    }
}

template <size_t width>
void FloatPanels<width>::unpack_row(const PackedMatrix& matrix, size_t row, float* out) {
    const size_t columns = matrix.shape.columns;
    const float* panel = static_cast<const float*>(matrix.data) + row / width * width * columns;
    for (size_t column = 0; column < columns; ++column) out[column] = panel[column * width + row % width];
}

template <size_t width>
void FloatPanels<width>::gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered) {
    gather_lanes<float, width>(static_cast<const float*>(matrix.data), matrix.shape.columns, indices, count,
                               static_cast<float*>(gathered));
}

template struct FloatPanels<16>;
template struct FloatPanels<32>;
template struct FloatPanels<64>;

}  // namespace pocketmt
