// Rows of activations to their grids, and layer normalization with each step on its grid.
#pragma once

#include "grid/grid.h"
#include "vector/lanes.h"

namespace pocketmt {
namespace {

struct GridLanes {
    Floats offset;
    Floats scale;
    Floats inverse;
};

// What a grid has for 16 elements: body(offset, load, store, grid lanes), as for_lanes.
template <class Body>
POCKETMT_INLINE void for_grid_lanes(const Grid& grid, size_t size, Body&& body) {
    if (grid.uniform()) {
        const GridLanes all{broadcast(grid.offsets[0]), broadcast(grid.scales[0]), broadcast(grid.inverses[0])};
        for_lanes(size, [&](size_t i, auto load, auto store) POCKETMT_INLINE_LAMBDA { body(i, load, store, all); });
    } else {
        for_lanes(size, [&](size_t i, auto load, auto store) POCKETMT_INLINE_LAMBDA {
            body(i, load, store, GridLanes{load(grid.offsets + i), load(grid.scales + i), load(grid.inverses + i)});
        });
    }
}

// Codes of 16 values, each + rounding_shift. A value that is no number has the lowest.
POCKETMT_INLINE Floats shifted_codes(Floats value, const GridLanes& grid, float half) {
    const Floats highest = broadcast(half - 1.0f);
    const Floats steps = maximum((value - grid.offset) * grid.inverse, broadcast(-half));
    return where_greater(steps, highest, highest, steps) + broadcast(rounding_shift);
}

inline void snap_row(const Grid& grid, size_t columns, float* x) {
    for_grid_lanes(grid, columns, [&](size_t i, auto load, auto store, const GridLanes& values) POCKETMT_INLINE_LAMBDA {
        const Floats codes = shifted_codes(load(x + i), values, grid.half) - broadcast(rounding_shift);
        store(x + i, values.offset + codes * values.scale);
    });
}

inline void snap(const Grid& grid, size_t count, size_t columns, float* x) {
    for (size_t row = 0; row < count; ++row) snap_row(grid, columns, x + row * columns);
}

// The codes of one row, nothing beyond `columns` is written.
inline void code_row(const Grid& grid, const float* x, size_t columns, int8_t* codes) {
    for_grid_lanes(grid, columns, [&](size_t i, auto load, auto, const GridLanes& values) POCKETMT_INLINE_LAMBDA {
        const Floats shifted = shifted_codes(load(x + i), values, grid.half);
        if (i + lanes <= columns) return store_bytes(codes + i, shifted);
        int8_t last[lanes];
        store_bytes(last, shifted);
        __builtin_memcpy(codes + i, last, columns - i);
    });
}

inline void codes(const Grid& grid, const float* x, size_t x_stride, size_t count, size_t columns, int8_t* codes,
                  size_t stride) {
    for (size_t row = 0; row < count; ++row, x += x_stride, codes += stride) {
        code_row(grid, x, columns, codes);
        __builtin_memset(codes + columns, 0, stride - columns);
    }
}

inline void snap_where_present(const Grid& grid, size_t columns, float* x) {
    if (grid.present()) snap_row(grid, columns, x);
}

// sum_i x[i] in the order of sum_of_lanes.
inline float sum_of_row(const float* x, size_t size) {
    Floats total{};
    for_lanes(size, [&](size_t i, auto load, auto) POCKETMT_INLINE_LAMBDA { total += load(x + i); });
    return sum_of_lanes(total);
}

// Paper Q, section 3.2: numerator, denominator, quotient and output, for one row.
inline void grid_norm_row(const NormGrids& grids, const float* gamma, const float* beta, size_t columns,
                          const float* sum, float* out) {
    constexpr float epsilon = 1e-5f;
    const float size = static_cast<float>(columns);
    const Floats mean = broadcast(sum_of_row(sum, columns) / size);
    Floats squares{};
    for_lanes(columns,
              [&](size_t i, auto load, auto store) POCKETMT_INLINE_LAMBDA { store(out + i, load(sum + i) - mean); });
    for_lanes(columns,
              [&](size_t i, auto load, auto) POCKETMT_INLINE_LAMBDA { squares += load(out + i) * load(out + i); });
    float denominator = __builtin_sqrtf(sum_of_lanes(squares) / size + epsilon);
    snap_where_present(grids.denominator, 1, &denominator);
    snap_where_present(grids.numerator, columns, out);
    const Floats divisors = broadcast(denominator);
    for_lanes(columns, [&](size_t i, auto load, auto store)
                           POCKETMT_INLINE_LAMBDA { store(out + i, load(out + i) / divisors); });
    snap_where_present(grids.quotient, columns, out);
    for_lanes(columns, [&](size_t i, auto load, auto store) POCKETMT_INLINE_LAMBDA {
        store(out + i, load(out + i) * load(gamma + i) + load(beta + i));
    });
    snap_where_present(grids.output, columns, out);
}

inline void grid_norm(const NormGrids& grids, const float* x, const float* residual, const float* gamma,
                      const float* beta, size_t count, size_t columns, float* sum_out, float* out) {
    for (size_t row = 0; row < count; ++row, x += columns, out += columns) {
        float* sum = sum_out != nullptr ? sum_out + row * columns : out;
        const float* second = residual != nullptr ? residual + row * columns : nullptr;
        for_lanes(columns, [&](size_t i, auto load, auto store) POCKETMT_INLINE_LAMBDA {
            store(sum + i, second != nullptr ? load(x + i) + load(second + i) : load(x + i));
        });
        grid_norm_row(grids, gamma, beta, columns, sum, out);
    }
}

}  // namespace
}  // namespace pocketmt
