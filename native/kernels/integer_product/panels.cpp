#include "integer_product/panels.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include "gather.h"

namespace pocketmt {

namespace {

size_t weight_bytes(size_t rows, size_t columns) {
    return panel_count(rows) * step_count(columns) * 2 * group_bytes;
}

// Writes the weights of one output, four at a time, to `packed`, where its groups are `group_bytes` apart.
template <uint8_t offset>
void pack_output(const int8_t* weights, size_t count, size_t padded_count, uint8_t* packed) {
    constexpr uint32_t offsets = 0x01010101u * offset;  // Adding 128 to a byte, modulo 256, changes its highest bit.
    static_assert(offset == 0 || offset == 128);
    for (size_t input = 0; input < padded_count; input += group_inputs, packed += group_bytes) {
        uint32_t group = 0;
        if (input + group_inputs <= count) {
            std::memcpy(&group, weights + input, sizeof group);
        } else if (input < count) {
            std::memcpy(&group, weights + input, count - input);
        }
        group ^= offsets;
        std::memcpy(packed, &group, sizeof group);
    }
}

int32_t negative_sum(const int8_t* weights, size_t count) {
    constexpr size_t most = 128;  // Sums of this many weights fit 16 bits, which compilers add up faster.
    int32_t total = 0;
    for (size_t first = 0; first < count; first += most) {
        const size_t last = std::min(count, first + most);
        int16_t sum = 0;
        for (size_t input = first; input < last; ++input)
            sum = static_cast<int16_t>(sum + std::min<int16_t>(weights[input], 0));
        total -= sum;
    }
    return total;
}

// Where the weight of `output` and `input` lies in its panel.
size_t place(size_t output, size_t input) {
    return input / group_inputs * group_bytes + output * group_inputs + input % group_inputs;
}

// Where a block without an offset has the range of its weights.
const WeightRange* stored_range(const void* packed, const MatrixShape& shape) {
    const std::byte* end = static_cast<const std::byte*>(packed) + weight_bytes(shape.rows, shape.columns);
    return reinterpret_cast<const WeightRange*>(end + output_bytes(shape.rows));
}
WeightRange* stored_range(void* packed, const MatrixShape& shape) {
    return const_cast<WeightRange*>(stored_range(const_cast<const void*>(packed), shape));
}

// The least and the greatest of weights that have been added, and 0; plus 128, as compilers compare unsigned bytes
// faster.
class WeightExtremes {
  public:
    void add(const int8_t* weights, size_t count) {
        uint8_t least = least_, greatest = greatest_;
        for (size_t i = 0; i < count; ++i) {
            const uint8_t weight = static_cast<uint8_t>(weights[i]) ^ zero;
            least = std::min(least, weight);
            greatest = std::max(greatest, weight);
        }
        least_ = least;
        greatest_ = greatest;
    }
    WeightRange range() const {
        if (least_ == 0) return WeightRange::any;
        return least_ >= zero - 64 && greatest_ <= zero + 63 ? WeightRange::seven_bits : WeightRange::symmetric;
    }

  private:
    static constexpr uint8_t zero = 128;
    uint8_t least_ = zero, greatest_ = zero;
};

}  // namespace

void require_integer_columns(size_t columns) {
    if (columns > most_integer_columns) {
        throw std::invalid_argument(
            "a matrix of " + std::to_string(columns) + " columns cannot be multiplied in integers: at most " +
            std::to_string(most_integer_columns) + " fit 32-bit sums; keep this matrix in fp32");
    }
}

template <uint8_t offset>
size_t BytePanels<offset>::packed_bytes(const MatrixShape& shape) {
    const size_t scale_bytes = panel_count(shape.rows) * panel_outputs * sizeof(float);
    const size_t plain_bytes = output_bytes(shape.rows) + sizeof(WeightRange);
    return weight_bytes(shape.rows, shape.columns) + (offset == 0 ? plain_bytes : scale_bytes);
}

template <uint8_t offset>
WeightRange BytePanels<offset>::range(const PackedMatrix& matrix) {
    return offset == 0 ? *stored_range(matrix.data, matrix.shape) : WeightRange::any;
}

template <uint8_t offset>
void BytePanels<offset>::pack(const UnpackedWeights& weights, const MatrixShape& shape, void* packed) {
    const size_t rows = shape.rows, columns = shape.columns;
    require_integer_columns(columns);
    uint8_t* panel = static_cast<uint8_t*>(packed);
    float* packed_scales = reinterpret_cast<float*>(panel + weight_bytes(rows, columns));
    int32_t* negative_sums = reinterpret_cast<int32_t*>(packed_scales + panel_count(rows) * panel_outputs);
    const size_t padded_columns = step_count(columns) * step_inputs;
    WeightExtremes extremes;
    for (size_t first = 0; first < rows; first += panel_outputs, panel += padded_columns * panel_outputs) {
        for (size_t output = 0; output < panel_outputs; ++output) {
            const size_t row = first + output;
            const size_t given = row < rows ? columns : 0;
            const int8_t* of_row = weights.integers + row * columns;
            pack_output<offset>(of_row, given, padded_columns, panel + output * group_inputs);
            packed_scales[row] = row < rows ? weights.scales[row] : 0.0f;
            if constexpr (offset == 0) {
                negative_sums[row] = negative_sum(of_row, given);
                extremes.add(of_row, given);
            }
        }
    }
    if constexpr (offset == 0) *stored_range(packed, shape) = extremes.range();
}

template <uint8_t offset>
void BytePanels<offset>::unpack_row(const PackedMatrix& matrix, size_t row, float* out) {
    const size_t columns = matrix.shape.columns;
    const uint8_t* bytes = static_cast<const uint8_t*>(matrix.data);
    const float scale = reinterpret_cast<const float*>(bytes + weight_bytes(matrix.shape.rows, columns))[row];
    const uint8_t* panel = bytes + row / panel_outputs * panel_outputs * step_count(columns) * step_inputs;
    const uint8_t* group = panel + place(row % panel_outputs, 0);
    // The compiler converts many bytes at once if they follow one another.
    constexpr size_t most = 128;
    for (size_t first = 0; first < columns; first += most) {
        const size_t count = std::min(most, columns - first);
        uint8_t weights[most];
        for (size_t input = 0; input < count; input += group_inputs, group += group_bytes)
            std::memcpy(weights + input, group, group_inputs);
        for (size_t input = 0; input < count; ++input)
            out[first + input] = static_cast<float>(static_cast<int8_t>(weights[input] - offset)) * scale;
    }
}

// A unit is the four bytes of an output in a group.
template <uint8_t offset>
void BytePanels<offset>::gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered) {
    const size_t rows = matrix.shape.rows, columns = matrix.shape.columns;
    const uint8_t* from = static_cast<const uint8_t*>(matrix.data);
    uint8_t* to = static_cast<uint8_t*>(gathered);
    gather_lanes<uint32_t, panel_outputs>(reinterpret_cast<const uint32_t*>(from), 2 * step_count(columns), indices,
                                          count, reinterpret_cast<uint32_t*>(to));
    const float* scales = reinterpret_cast<const float*>(from + weight_bytes(rows, columns));
    float* gathered_scales = reinterpret_cast<float*>(to + weight_bytes(count, columns));
    if constexpr (offset == 0) {
        *stored_range(gathered, {count, columns}) = *stored_range(matrix.data, matrix.shape);
        return gather_outputs(scales, rows, indices, count, gathered_scales);
    }
    gather_lanes<float, panel_outputs>(scales, 1, indices, count, gathered_scales);
}

template struct BytePanels<0>;
template struct BytePanels<128>;

}  // namespace pocketmt
