#include "model/transformer/positions.h"

#include <algorithm>
#include <cmath>

#include "model/weights/activation_ranges.h"

namespace pocketmt {

PositionEncoding::PositionEncoding(const Kernels& kernels, PositionTable table, size_t offset, size_t dimension,
                                   const QuantizationParameters& quantization)
    : kernels_(kernels), offset_(offset), quantization_(quantization) {
    const bool interleaved = table == PositionTable::interleaved;  // Vaswani et al. 2017, section 3.5
    const size_t sines = dimension / 2, last = sines - (table == PositionTable::concatenated_inclusive ? 1 : 0);
    for (size_t column = 0; column < dimension; ++column) {
        const size_t frequency = interleaved ? column / 2 : column % sines;
        const bool cosine = interleaved ? column % 2 != 0 : column >= sines;
        const double exponent = static_cast<double>(frequency) / static_cast<double>(last);
        waves_.push_back({std::pow(10000.0, -exponent), cosine});
    }
}

const float* PositionEncoding::rows(std::vector<float>& table, size_t end) const {
    const size_t dimension = waves_.size();
    size_t position = table.size() / dimension;
    if (position < end) table.resize(std::max(end, position + position / 2) * dimension);
    for (; position * dimension < table.size(); ++position) {
        float* row = table.data() + position * dimension;
        for (size_t column = 0; column < dimension; ++column) {
            const double angle = static_cast<double>(offset_ + position) * waves_[column].frequency;
            row[column] = static_cast<float>(waves_[column].cosine ? std::cos(angle) : std::sin(angle));
        }
        fake_quantize(kernels_, quantization_, row, 1, dimension);
    }
    return table.data();
}

}  // namespace pocketmt
