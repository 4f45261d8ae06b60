#include "model/weights/activation_ranges.h"

#include <cmath>
#include <vector>

#include "model/runtime/error.h"

namespace pocketmt {

namespace {

constexpr unsigned least_bits = 2, most_bits = 8;
constexpr size_t most_places = 4096;  // of an operation; more than three for each attention of 256 + 256 layers
// A smaller scale has no finite inverse: the range is a single value.
constexpr float negligible = 1e-35f;

std::string tensor_name(const std::string& operation) {
    return "ranges." + operation;
}

}  // namespace

ActivationRanges::ActivationRanges(const TensorSource& source, Arena& arena, unsigned bits)
    : source_(source), arena_(arena), bits_(bits) {
    if (bits != 0 && (bits < least_bits || bits > most_bits))
        throw ModelError("activations of " + std::to_string(bits) + " bits: this engine knows 2 to 8");
}

QuantizationParameters ActivationRanges::next(const std::string& operation, size_t elements, size_t repeated) {
    std::string name = tensor_name(operation);
    if (bits_ == 0 || !source_.holds(name)) return {};
    std::vector<uint64_t> shape = source_.shape(name);
    size_t place = taken_[operation]++;
    bool fits = shape.size() == 3 && shape[0] > place && shape[0] <= most_places && shape[1] == 2 &&
                (shape[2] == 1 || shape[2] == elements);
    if (!fits) throw ModelError("tensor " + name + ": its shape is not that of this network's ranges");
    const float* minima = source_.floats(name, shape) + place * 2 * shape[2];
    const float* maxima = minima + shape[2];
    for (size_t i = 0; i < shape[2]; ++i) {
        if (!(minima[i] <= maxima[i]) || !std::isfinite(maxima[i] - minima[i]))
            throw ModelError("tensor " + name + ": holds a range whose ends are not in order");
    }
    return make(minima, maxima, shape[2], shape[2] == 1 ? 1 : repeated);
}

QuantizationParameters ActivationRanges::make(const float* minima, const float* maxima, size_t elements,
                                              size_t repeated) const {
    size_t size = elements * repeated;
    float* arrays = static_cast<float*>(arena_.allocate(3 * size * sizeof(float)));
    float *offsets = arrays, *scales = arrays + size, *inverses = arrays + 2 * size;
    float half = static_cast<float>(1u << (bits_ - 1));
    for (size_t i = 0; i < size; ++i) {
        float minimum = minima[i % elements];
        scales[i] = (maxima[i % elements] - minimum) / (2.0f * half - 1.0f);
        offsets[i] = minimum + half * scales[i];
        inverses[i] = scales[i] < negligible ? 0.0f : 1.0f / scales[i];
    }
    return {offsets, scales, inverses, size, half};
}

void ActivationRanges::finish() const {
    for (const auto& [operation, count] : taken_) {
        if (source_.shape(tensor_name(operation))[0] != count)
            throw ModelError("tensor " + tensor_name(operation) + ": holds more ranges than this network has");
    }
}

}  // namespace pocketmt
