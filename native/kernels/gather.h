// Rows of a packed block as a block of their own, for layouts in which a panel is [units][lanes]: unit by unit, what
// each of its outputs has there. For panels.cpp and its like alone, which are compiled once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shapes.h"

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

}  // namespace
}  // namespace pocketmt
