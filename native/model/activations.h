// Rows of activations, quantized at most once however many matrices they are multiplied with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"
#include "model/buffer.h"
#include "model/crew.h"
#include "model/quantizer.h"

namespace pocketmt {

// What products need beside their inputs and outputs.
struct ProductBuffers {
    Crew* crew = nullptr;  // that helps with large ones; null: none does
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
    // Where the values lie on a grid that is the same for all elements, its codes are theirs.
    Activations(const Quantizer& quantizer, ProductBuffers& buffers, const float* values, size_t count, size_t columns,
                const Grid& grid = {})
        : quantizer_(quantizer), buffers_(buffers), values_(values), count_(count), columns_(columns), grid_(grid) {}

    const float* values() const { return values_; }
    size_t count() const { return count_; }
    size_t columns() const { return columns_; }

    // The calibrated scale of the codes that the next product reads ([E6]); 0: they have none.
    void use_static_scale(float scale) {
        if (scale != static_scale_) quantized_.codes = nullptr;
        static_scale_ = scale;
    }

    const QuantizedActivations& quantized() {
        if (quantized_.codes == nullptr) {
            size_t stride = round_up(columns_, activation_alignment);
            int8_t* codes = buffers_.codes.ensure(count_ * stride);
            float* scales = buffers_.scales.ensure(count_);
            if (grid_.uniform()) {
                quantizer_.code(grid_, values_, count_, columns_, codes, scales, stride);
            } else if (static_scale_ != 0.0f) {
                quantizer_.quantize_static(static_scale_, values_, count_, columns_, codes, scales, stride);
            } else {
                quantizer_.quantize(values_, count_, columns_, codes, scales, stride);
            }
            quantized_ = {codes, scales, stride};
        }
        return quantized_;
    }

    // Whoever helps with the product; null: nobody.
    Crew* crew() const { return buffers_.crew; }

    // Room for the outputs [count, rows] of a row group whose rows lie scattered.
    float* group_outputs(size_t rows) { return buffers_.group_outputs.ensure(count_ * rows); }

  private:
    const Quantizer& quantizer_;
    ProductBuffers& buffers_;
    const float* values_;
    size_t count_;
    size_t columns_;
    Grid grid_;
    float static_scale_ = 0.0f;
    QuantizedActivations quantized_{nullptr, nullptr, 0};
};

}  // namespace pocketmt
