// Tensors in the bytes of a model file. Descriptions of them are not trusted: each access is checked against the bytes.
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

#include "model/weights/quantizer.h"

namespace pocketmt {

// How the elements of a tensor are held in the file; offset and size are those of the coded bytes.
enum class TensorCoding {
    none,
    deflate,  // one raw deflate stream
    other,    // see TensorSource::Decode
};

struct TensorDescription {
    std::string dtype;  // "F32", "BF16", "I8" or "U8"
    std::vector<uint64_t> shape;
    uint64_t offset = 0;  // bytes from the start of the file
    uint64_t size = 0;    // bytes
    TensorCoding coding = TensorCoding::none;
};

// Consecutive rows of a matrix held in one scheme.
struct GroupDescription {
    std::string scheme;
    unsigned bits = 0;
    std::string granularity;
    std::vector<int> levels;  // of a lookup table, else empty
    uint64_t rows = 0;
};

// Vectors that are stored as the rows of a matrix.
struct VectorGroupDescription {
    std::string name;  // of the matrix
    std::vector<std::string> vectors;
};

struct FileDescription {
    std::unordered_map<std::string, TensorDescription> tensors;
    std::vector<std::string> deflated;  // tensors whose coding is TensorCoding::deflate, in the order of their use
    std::unordered_map<std::string, std::vector<GroupDescription>> matrices;
    std::vector<VectorGroupDescription> vector_groups;
    // Quantization of inputs of quantized matrices; none: 8 bits with a scale a row, or calibrated.
    std::optional<LogarithmicActivations> logarithmic_activations;
};

class TensorSource {
  public:
    // Called with each range of the file (offset, size) that is no longer needed.
    using Release = std::function<void(uint64_t offset, uint64_t size)>;

    // Bytes, for as long as their owner lives.
    struct Decoded {
        std::shared_ptr<const void> owner;
        std::span<const std::byte> bytes;
    };
    // Decodes a tensor whose coding is TensorCoding::other.
    using Decode = std::function<Decoded(const std::string& name)>;

    TensorSource(std::span<const std::byte> file, FileDescription description, Release release, Decode decode);

    bool holds(const std::string& name) const { return description_.tensors.contains(name); }
    const std::optional<LogarithmicActivations>& logarithmic_activations() const {
        return description_.logarithmic_activations;
    }
    // The described shape of a tensor. Throws ModelError if it is missing.
    const std::vector<uint64_t>& shape(const std::string& name) const { return find(name).shape; }
    // Bytes of the elements of all tensors.
    uint64_t element_bytes() const;
    // The row groups of a matrix; null for a plain tensor.
    const std::vector<GroupDescription>* groups(const std::string& matrix) const;
    const std::vector<VectorGroupDescription>& vector_groups() const { return description_.vector_groups; }

    // The elements of a tensor that must be of this shape. Throw ModelError naming the tensor.
    const float* floats(const std::string& name, const std::vector<uint64_t>& shape) const;          // F32, all finite
    const int8_t* signed_codes(const std::string& name, const std::vector<uint64_t>& shape) const;   // I8, none -128
    const uint8_t* packed_codes(const std::string& name, const std::vector<uint64_t>& shape) const;  // U8
    std::vector<float> scales(const std::string& name,
                              const std::vector<uint64_t>& shape) const;  // BF16 or F32, finite

    // The elements of a tensor F32 that may not be finite, and a check of some of them, which throws ModelError. For
    // tensors that are not to be read twice.
    const float* unchecked_floats(const std::string& name, const std::vector<uint64_t>& shape) const;
    static void check_finite(const std::string& name, std::span<const float> values);

    // The one element of a tensor F32 [1]; it and its inverse are positive and finite.
    float positive(const std::string& name) const;

    // Releases a tensor, whose elements must not be used any more.
    void release(const std::string& name) const;
    // Releases `size` bytes of it, from `first` on. A coded tensor is kept until all of it is released.
    void release_part(const std::string& name, size_t first, size_t size) const;

  private:
    const TensorDescription& find(const std::string& name) const;
    const void* elements(const std::string& name, const char* dtype, size_t element_bytes,
                         const std::vector<uint64_t>& shape) const;
    // The bytes of a tensor in the file.
    std::span<const std::byte> stored(const std::string& name, const TensorDescription& tensor) const;
    const std::byte* decoded(const std::string& name, const TensorDescription& tensor, size_t size) const;
    Decoded inflated(const std::string& name, size_t size) const;
    // Decompresses a tensor together with those that are used next, which is faster; none if one of them is damaged.
    void inflate_together(const std::string& name) const;

    std::span<const std::byte> file_;
    FileDescription description_;
    Release release_;
    Decode decode_;
    mutable std::unordered_map<std::string, Decoded> decoded_;  // until their release
};

}  // namespace pocketmt
