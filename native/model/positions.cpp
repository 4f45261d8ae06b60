#include "model/positions.h"

#include <algorithm>
#include <cmath>

#include "model/ranges.h"

namespace pocketmt {

Positions::Positions(const Kernels& kernels, size_t dimension, const Grid& grid)
    : kernels_(kernels), dimension_(dimension), grid_(grid) {
    for (size_t column = 0; column < dimension; column += 2) {
        frequencies_.push_back(std::pow(10000.0, -static_cast<double>(column) / static_cast<double>(dimension)));
    }
}

const float* Positions::rows(size_t end) {
    size_t position = table_.size() / dimension_;
    if (position < end) table_.resize(std::max(end, position + position / 2) * dimension_);
    for (; position * dimension_ < table_.size(); ++position) {
        float* row = table_.data() + position * dimension_;
        for (size_t column = 0; column < dimension_; ++column) {
            double angle = static_cast<double>(position) * frequencies_[column / 2];
            row[column] = static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
        }
        snap(kernels_, grid_, row, 1, dimension_);
    }
    return table_.data();
}

void Positions::trim(size_t bytes) {
    if (table_.capacity() * sizeof(float) > bytes) table_ = std::vector<float>();
}

}  // namespace pocketmt
