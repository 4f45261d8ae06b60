#include "model/transformer/positions.h"

#include <algorithm>
#include <cmath>

#include "model/weights/activation_ranges.h"

namespace pocketmt {

PositionEncoding::PositionEncoding(const Kernels& kernels, PositionTable table, size_t dimension,
                                   const QuantizationParameters& quantization)
    : kernels_(kernels), quantization_(quantization) {
    switch (table) {
        case PositionTable::interleaved:  // Vaswani et al. 2017, section 3.5
            for (size_t column = 0; column < dimension; ++column) {
                const double exponent = static_cast<double>(column - column % 2) / static_cast<double>(dimension);
                waves_.push_back({std::pow(10000.0, -exponent), column % 2 != 0});
            }
    }
}

const float* PositionEncoding::rows(std::vector<float>& table, size_t end) const {
    const size_t dimension = waves_.size();
    size_t position = table.size() / dimension;
    if (position < end) table.resize(std::max(end, position + position / 2) * dimension);
    for (; position * dimension < table.size(); ++position) {
        float* row = table.data() + position * dimension;
        for (size_t column = 0; column < dimension; ++column) {
            const double angle = static_cast<double>(position) * waves_[column].frequency;
            row[column] = static_cast<float>(waves_[column].cosine ? std::cos(angle) : std::sin(angle));
        }
        fake_quantize(kernels_, quantization_, row, 1, dimension);
    }
    return table.data();
}

}  // namespace pocketmt
