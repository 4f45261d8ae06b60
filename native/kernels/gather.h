// Copies rows of a packed block to a new block, for layouts in which a panel is [units][lanes]. Only sources that are
// compiled once, for the baseline instruction set, include it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "panel_layout.h"

namespace pocketmt {
namespace {

// The row that a lane of a gathered block has. The lanes that are left in the last panel repeat the last row.
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

// Copies scales, and the negative sums that follow them.
inline void gather_outputs(const float* scales, size_t rows, const uint32_t* indices, size_t count,
                           float* gathered_scales) {
    gather_lanes<float, panel_outputs>(scales, 1, indices, count, gathered_scales);
    const int32_t* sums = reinterpret_cast<const int32_t*>(scales + panel_count(rows) * panel_outputs);
    int32_t* gathered_sums = reinterpret_cast<int32_t*>(gathered_scales + panel_count(count) * panel_outputs);
    gather_lanes<int32_t, panel_outputs>(sums, 1, indices, count, gathered_sums);
}

}  // namespace
}  // namespace pocketmt
