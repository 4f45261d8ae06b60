// Position encodings, computed in double and kept as floats.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/kernels.h"
#include "model/description/architecture.h"

namespace pocketmt {

class PositionEncoding {
  public:
    // quantization: of a row.
    PositionEncoding(const Kernels& kernels, PositionTable table, size_t dimension,
                     const QuantizationParameters& quantization);

    // Rows 0 to `end` - 1 of `table` [positions, dimension], which grows as needed; valid until the next call.
    const float* rows(std::vector<float>& table, size_t end) const;

  private:
    // An element of position p is the sine or cosine of p * frequency.
    struct Wave {
        double frequency;
        bool cosine;
    };

    const Kernels& kernels_;
    QuantizationParameters quantization_;
    std::vector<Wave> waves_;  // [dimension]
};

}  // namespace pocketmt
