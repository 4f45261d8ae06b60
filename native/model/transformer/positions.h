// Position encodings, computed in double and kept as floats.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/kernels.h"
#include "model/description/architecture.h"

namespace pocketmt {

class PositionEncoding {
  public:
    // offset: position of the first piece. quantization: of a row.
    PositionEncoding(const Kernels& kernels, PositionTable table, size_t offset, size_t dimension,
                     const QuantizationParameters& quantization);

    // Rows of the first `end` pieces, `table` [pieces, dimension], which grows as needed; valid until the next call.
    const float* rows(std::vector<float>& table, size_t end) const;

  private:
    // An element of position p is the sine or cosine of p * frequency.
    struct Wave {
        double frequency;
        bool cosine;
    };

    const Kernels& kernels_;
    size_t offset_;
    QuantizationParameters quantization_;
    std::vector<Wave> waves_;  // [dimension]
};

}  // namespace pocketmt
