// The trained ranges of a fully quantized model (Prato et al. 2020, section 3), as quantization parameters.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "kernels/kernels.h"
#include "model/runtime/arena.h"
#include "model/weights/tensor_source.h"

namespace pocketmt {

// Hands out the quantization parameters of each operation in the order of the network. In a model without ranges all of
// them are absent.
class ActivationRanges {
  public:
    // bits: of a code, 2 to 8; 0: activations are not quantized. Throws ModelError.
    ActivationRanges(const TensorSource& source, Arena& arena, unsigned bits);

    // The next parameters of an operation whose rows have `elements` elements; absent if the file does not quantize it.
    // Ranges of single elements are repeated `repeated` times, for heads that share them. Throws ModelError naming the
    // tensor.
    QuantizationParameters next(const std::string& operation, size_t elements, size_t repeated = 1);
    // Throws ModelError if a range was not handed out.
    void finish() const;

  private:
    QuantizationParameters make(const float* minima, const float* maxima, size_t elements, size_t repeated) const;

    const TensorSource& source_;
    Arena& arena_;
    unsigned bits_;
    std::map<std::string, size_t> taken_;  // operation -> parameters handed out
};

// Replaces rows x [count, columns] by the values that their codes represent, if they are quantized.
inline void fake_quantize(const Kernels& kernels, const QuantizationParameters& parameters, float* x, size_t count,
                          size_t columns) {
    if (parameters.present()) kernels.fake_quantization.fake_quantize(parameters, count, columns, x);
}

}  // namespace pocketmt
