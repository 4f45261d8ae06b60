// Sinusoidal position encodings (Vaswani et al. 2017, section 3.5), computed in double and kept as floats.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/kernels.h"

namespace pocketmt {

class Positions {
  public:
    // Where there is a grid, rows lie on it.
    Positions(const Kernels& kernels, size_t dimension, const Grid& grid);

    // Rows 0 to `end` - 1 of the table [end, dimension]; valid until the next call.
    const float* rows(size_t end);
    // Forgets rows that take more than `bytes`.
    void trim(size_t bytes);

  private:
    const Kernels& kernels_;
    size_t dimension_;
    Grid grid_;
    std::vector<double> frequencies_;  // of columns 2i and 2i + 1
    std::vector<float> table_;
};

}  // namespace pocketmt
