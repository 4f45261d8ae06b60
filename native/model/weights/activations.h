// Rows of activations, which are quantized at most once for all the matrices that they are multiplied with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"
#include "model/runtime/buffer.h"
#include "model/runtime/product_sharing.h"
#include "model/weights/quantizer.h"

namespace pocketmt {

// Buffers of products, and the threads that share the work.
struct ProductBuffers {
    ProductSharing* sharing = nullptr;  // of large products; may be null
    Buffer<int8_t> codes;
    Buffer<float> scales;
    Buffer<float> group_outputs;

    void trim(size_t bytes) {
        codes.trim(bytes);
        scales.trim(bytes);
        group_outputs.trim(bytes);
    }
};

// A view of `count` contiguous rows. Valid until the next Activations is made on the same buffers.
class Activations {
  public:
    // Values that were fake-quantized with parameters for all elements have the codes of these parameters.
    Activations(const Quantizer& quantizer, ProductBuffers& buffers, const float* values, size_t count, size_t columns,
                const QuantizationParameters& parameters = {})
        : quantizer_(quantizer),
          buffers_(buffers),
          values_(values),
          count_(count),
          columns_(columns),
          parameters_(parameters) {}

    size_t count() const { return count_; }

    // Sets the calibrated scale of the codes that the next product reads (Behnke et al. 2021, section 3.2), or 0 if it
    // has none.
    void use_static_scale(float scale) {
        if (scale != static_scale_) quantized_.codes = nullptr;
        static_scale_ = scale;
    }

    // The activations as floats or as codes, which are computed once.
    ProductInput input(bool quantized) {
        if (!quantized) return {.count = count_, .floats = values_, .float_stride = columns_};
        if (quantized_.codes == nullptr) quantize();
        return {.count = count_, .quantized = quantized_};
    }

    // Threads that share the product; may be null.
    ProductSharing* sharing() const { return buffers_.sharing; }

    // Memory for the outputs [count, rows] of a row group whose rows lie scattered.
    float* group_outputs(size_t rows) { return buffers_.group_outputs.ensure(count_ * rows); }

  private:
    void quantize() {
        size_t stride = round_up(columns_, activation_alignment);
        int8_t* codes = buffers_.codes.ensure(count_ * stride);
        float* scales = buffers_.scales.ensure(count_);
        if (parameters_.per_tensor()) {
            quantizer_.quantize_in_range(parameters_, values_, count_, columns_, codes, scales, stride);
        } else if (static_scale_ != 0.0f) {
            quantizer_.quantize_static(static_scale_, values_, count_, columns_, codes, scales, stride);
        } else {
            quantizer_.quantize(values_, count_, columns_, codes, scales, stride);
        }
        quantized_ = {codes, scales, stride};
    }

    const Quantizer& quantizer_;
    ProductBuffers& buffers_;
    const float* values_;
    size_t count_;
    size_t columns_;
    QuantizationParameters parameters_;
    float static_scale_ = 0.0f;
    QuantizedActivations quantized_;
};

}  // namespace pocketmt
