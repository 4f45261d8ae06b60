// Rows of a packed block as a block of their own, for layouts in which a panel is [units][lanes]: unit by unit, what
// each of its outputs has there. For panels.cpp and its like alone, which are compiled once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "integer_product/panels.h"

namespace pocketmt {
namespace {

// The row of a lane of a gathered block; lanes of the last panel that are left repeat the last row.
inline size_t gathered_row(const uint32_t* indices, size_t count, size_t place) {
    return indices[smaller(place, count - 1)];
}

// gathered [panels][units][lanes] = rows `indices` [count] of packed [panels][units][lanes].
template <class Unit, size_t lanes>
void gather_lanes(const Unit* packed, size_t units, const uint32_t* indices, size_t count, Unit* gathered) {
    for (size_t first = 0; first < count; first += lanes) {
        const Unit* rows[lanes];
        for (size_t lane = 0; lane < lanes; ++lane) {
            const size_t row = gathered_row(indices, count, first + lane);
            rows[lane] = packed + row / lanes * units * lanes + row % lanes;
        }
        for (size_t unit = 0; unit < units; ++unit, gathered += lanes) {
            for (size_t lane = 0; lane < lanes; ++lane) gathered[lane] = rows[lane][unit * lanes];
        }
    }
}

// Scales, and negative sums behind them (integer_product/panels.h).
inline void gather_outputs(const float* scales, size_t rows, const uint32_t* indices, size_t count,
                           float* gathered_scales) {
    gather_lanes<float, panel_outputs>(scales, 1, indices, count, gathered_scales);
    const int32_t* sums = reinterpret_cast<const int32_t*>(scales + panel_count(rows) * panel_outputs);
    int32_t* gathered_sums = reinterpret_cast<int32_t*>(gathered_scales + panel_count(count) * panel_outputs);
    gather_lanes<int32_t, panel_outputs>(sums, 1, indices, count, gathered_sums);
}

}  // namespace
}  // namespace pocketmt
