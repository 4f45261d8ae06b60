#include "model/weights/linear.h"

namespace pocketmt {

std::vector<float> with_offset(const Matrix& matrix, const QuantizationParameters& input, std::vector<float> bias) {
    if (!input.per_tensor() || !matrix.quantized()) return bias;
    bias.resize(matrix.rows());
    std::vector<double> sums = matrix.row_sums();
    for (size_t row = 0; row < sums.size(); ++row)
        bias[row] += static_cast<float>(static_cast<double>(input.offsets[0]) * sums[row]);
    return bias;
}

}  // namespace pocketmt
