#include "float_product/panels.h"

#include <cstring>

#include "gather.h"
#include "shapes.h"

namespace pocketmt {

namespace {

constexpr size_t line_floats = 16;

}  // namespace

template <size_t width>
size_t FloatPanels<width>::packed_bytes(const MatrixShape& shape) {
    return round_up(shape.rows, width) * shape.columns * sizeof(float);
}

template <size_t width>
void FloatPanels<width>::pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed) {
    const size_t rows = shape.rows, columns = shape.columns;
    float* panel = static_cast<float*>(packed);
    for (size_t first = 0; first < rows; first += width, panel += columns * width) {
        const size_t filled = smaller(width, rows - first);
        if (filled < width) std::memset(panel, 0, columns * width * sizeof(float));
        // A cache line of each row at a time, so that the lines that are written stay in the first-level cache.
        for (size_t column = 0; column < columns; column += line_floats) {
            const size_t count = smaller(line_floats, columns - column);
            for (size_t lane = 0; lane < filled; ++lane) {
                const float* row = weights.floats + (first + lane) * columns + column;
                float* target = panel + column * width + lane;
                for (size_t i = 0; i < count; ++i) target[i * width] = row[i];
            }
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
