// Sinusoidal position encodings (Vaswani et al. 2017, section 3.5), computed in double and kept as floats.
#pragma once

#include <cstddef>
#include <vector>

namespace pocketmt {

class Positions {
  public:
    explicit Positions(size_t dimension);

    // Rows 0 to `end` - 1 of the table [end, dimension]; valid until the next call.
    const float* rows(size_t end);
    // Forgets rows that take more than `bytes`.
    void trim(size_t bytes);

  private:
    size_t dimension_;
    std::vector<double> frequencies_;  // of columns 2i and 2i + 1
    std::vector<float> table_;
};

}  // namespace pocketmt
