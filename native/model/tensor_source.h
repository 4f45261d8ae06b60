// Tensors in the bytes of a model file. Nothing here trusts the description: each access is checked against the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/quantizer.h"

namespace pocketmt {

struct TensorDescription {
    std::string dtype;  // "F32", "BF16", "I8" or "U8"
    std::vector<uint64_t> shape;
    uint64_t offset = 0;  // bytes from the start of the file
    uint64_t size = 0;    // bytes
    bool coded = false;   // offset and size are those of a stream that the decoder knows
};

// Consecutive rows of a matrix held in one scheme.
struct GroupDescription {
    std::string scheme;
    unsigned bits = 0;
    std::string granularity;
    std::vector<int> levels;  // of a level table, else empty
    uint64_t rows = 0;
};

// A matrix that is never multiplied with: its rows are the vectors of these names.
struct StackDescription {
    std::string name;  // of the matrix
    std::vector<std::string> vectors;
};

struct Description {
    std::unordered_map<std::string, TensorDescription> tensors;
    std::unordered_map<std::string, std::vector<GroupDescription>> matrices;
    std::vector<StackDescription> stacks;
    std::optional<LogarithmicActivations> products;  // how activations that meet quantized matrices are quantized
};

class TensorSource {
  public:
    // Told of each range of the file (offset, size) whose bytes are needed no more.
    using Release = std::function<void(uint64_t offset, uint64_t size)>;

    // Bytes, for as long as their owner lives.
    struct Decoded {
        std::shared_ptr<const void> owner;
        std::span<const std::byte> bytes;
    };
    // Decodes a tensor that is described as coded.
    using Decode = std::function<Decoded(const std::string& name)>;

    TensorSource(std::span<const std::byte> file, Description description, Release release, Decode decode);

    bool holds(const std::string& name) const { return description_.tensors.contains(name); }
    // How activations that meet quantized matrices are quantized; none: 8 bits with a scale a row.
    const std::optional<LogarithmicActivations>& products() const { return description_.products; }
    // The shape that the description gives a tensor. Throws ModelError where there is none.
    const std::vector<uint64_t>& shape(const std::string& name) const { return find(name).shape; }
    // The row groups of a matrix; null where it is a plain tensor.
    const std::vector<GroupDescription>* groups(const std::string& matrix) const;
    const std::vector<StackDescription>& stacks() const { return description_.stacks; }

    // The elements of a tensor that must be of this shape. Throw ModelError naming the tensor.
    const float* floats(const std::string& name, const std::vector<uint64_t>& shape) const;          // F32, all finite
    const int8_t* signed_codes(const std::string& name, const std::vector<uint64_t>& shape) const;   // I8, none -128
    const uint8_t* packed_codes(const std::string& name, const std::vector<uint64_t>& shape) const;  // U8
    std::vector<float> scales(const std::string& name,
                              const std::vector<uint64_t>& shape) const;  // BF16 or F32, finite

    // The one element of a tensor F32 [1], which is positive, as its inverse is, and finite.
    float positive(const std::string& name) const;

    // Elements of this tensor that were returned must not be used any more.
    void release(const std::string& name) const;
    // The same of its bytes from `first` on; of a coded tensor they are kept until all of it is released.
    void release_part(const std::string& name, size_t first, size_t size) const;

  private:
    const TensorDescription& find(const std::string& name) const;
    const void* elements(const std::string& name, const char* dtype, size_t element_bytes,
                         const std::vector<uint64_t>& shape) const;
    const std::byte* decoded(const std::string& name, size_t size) const;

    std::span<const std::byte> file_;
    Description description_;
    Release release_;
    Decode decode_;
    mutable std::unordered_map<std::string, Decoded> decoded_;  // until their release
};

}  // namespace pocketmt
