// Rows of activations, quantized at most once however many matrices they are multiplied with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"
#include "model/buffer.h"

namespace pocketmt {

struct QuantizationBuffer {
    Buffer<int8_t> codes;
    Buffer<float> scales;

    void trim(size_t bytes) {
        codes.trim(bytes);
        scales.trim(bytes);
    }
};

// A view of `count` contiguous rows. Valid until the next Activations is made on the same buffer.
class Activations {
  public:
    Activations(const Kernels& kernels, QuantizationBuffer& buffer, const float* values, size_t count, size_t columns)
        : kernels_(kernels), buffer_(buffer), values_(values), count_(count), columns_(columns) {}

    const float* values() const { return values_; }
    size_t count() const { return count_; }
    size_t columns() const { return columns_; }

    const QuantizedActivations& quantized() {
        if (quantized_.codes == nullptr) {
            size_t stride = round_up(columns_, activation_alignment);
            int8_t* codes = buffer_.codes.ensure(count_ * stride);
            float* scales = buffer_.scales.ensure(count_);
            kernels_.vector.quantize_rows(values_, columns_, count_, columns_, codes, scales, stride);
            quantized_ = {codes, scales, stride};
        }
        return quantized_;
    }

  private:
    const Kernels& kernels_;
    QuantizationBuffer& buffer_;
    const float* values_;
    size_t count_;
    size_t columns_;
    QuantizedActivations quantized_{nullptr, nullptr, 0};
};

}  // namespace pocketmt
