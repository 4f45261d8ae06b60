#include "model/weights/tensor_source.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "model/runtime/buffer.h"
#include "model/runtime/error.h"
#include "model/runtime/number_text.h"
#include "model/weights/inflate.h"

namespace pocketmt {

namespace {

constexpr uint64_t tensor_alignment = 64;
// A stream must not expand more than this, so that a small file cannot ask for any memory it likes.
constexpr size_t most_expansion = 32;
// Bytes of tensors that are inflated together.
constexpr size_t most_together = 1 << 20;

std::string text(const std::vector<uint64_t>& shape) {
    std::string result = "[";
    for (uint64_t size : shape) result += (result.size() > 1 ? ", " : "") + std::to_string(size);
    return result + "]";
}

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
    throw ModelError("tensor " + name + ": " + what);
}

uint64_t element_count(const std::vector<uint64_t>& shape) {
    uint64_t count = 1;
    for (uint64_t size : shape)
        count *= size;  // cannot overflow: the network's description bounds every expected shape
    return count;
}

// The elements of a tensor of bytes, if its stream may have this number of them.
std::optional<size_t> inflated_size(const TensorDescription& tensor) {
    if (tensor.dtype != "U8" && tensor.dtype != "I8") return std::nullopt;
    size_t size = 1;
    for (const uint64_t each : tensor.shape) {
        if (each == 0 || each > most_together / size) return std::nullopt;
        size *= each;
    }
    return size <= most_expansion * tensor.size ? std::optional(size) : std::nullopt;
}

std::span<const uint8_t> as_numbers(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

TensorSource::TensorSource(std::span<const std::byte> file, FileDescription description, Release release, Decode decode)
    : file_(file), description_(std::move(description)), release_(std::move(release)), decode_(std::move(decode)) {}

uint64_t TensorSource::element_bytes() const {
    uint64_t bytes = 0;
    for (const auto& [name, tensor] : description_.tensors)
        bytes += element_count(tensor.shape) * (tensor.dtype == "F32" ? 4 : tensor.dtype == "BF16" ? 2 : 1);
    return bytes;
}

const std::vector<GroupDescription>* TensorSource::groups(const std::string& matrix) const {
    auto found = description_.matrices.find(matrix);
    return found == description_.matrices.end() ? nullptr : &found->second;
}

const TensorDescription& TensorSource::find(const std::string& name) const {
    auto found = description_.tensors.find(name);
    if (found == description_.tensors.end()) refuse(name, "is missing from the model file");
    return found->second;
}

const void* TensorSource::elements(const std::string& name, const char* dtype, size_t element_bytes,
                                   const std::vector<uint64_t>& shape) const {
    const TensorDescription& tensor = find(name);
    if (tensor.dtype != dtype) refuse(name, "has the type " + tensor.dtype + ", expected " + dtype);
    if (tensor.shape != shape) refuse(name, "has the shape " + text(tensor.shape) + ", expected " + text(shape));
    const size_t size = element_count(shape) * element_bytes;
    const std::byte* start = nullptr;
    if (tensor.coding != TensorCoding::none) {
        if (element_bytes != 1 && shape.size() != 2) refuse(name, "is coded, which only codes and matrices may be");
        start = decoded(name, tensor, size);
    } else if (tensor.size != size) {
        refuse(name, "has " + std::to_string(tensor.size) + " bytes, which is not the size of its shape");
    } else {
        start = stored(name, tensor).data();
    }
    if (reinterpret_cast<uintptr_t>(start) % element_bytes != 0) refuse(name, "is not aligned in memory");
    return start;
}

std::span<const std::byte> TensorSource::stored(const std::string& name, const TensorDescription& tensor) const {
    if (tensor.offset > file_.size() || tensor.size > file_.size() - tensor.offset)
        refuse(name, "lies outside of the file");
    if (tensor.offset % tensor_alignment != 0) refuse(name, "does not start at a multiple of 64 bytes");
    return file_.subspan(tensor.offset, tensor.size);
}

const std::byte* TensorSource::decoded(const std::string& name, const TensorDescription& tensor, size_t size) const {
    auto found = decoded_.find(name);
    if (found == decoded_.end() && tensor.coding == TensorCoding::deflate) {
        inflate_together(name);
        found = decoded_.find(name);
    }
    if (found == decoded_.end()) {
        const bool deflated = tensor.coding == TensorCoding::deflate;
        found = decoded_.emplace(name, deflated ? inflated(name, size) : decode_(name)).first;
    }
    if (found->second.bytes.size() != size) {
        refuse(name,
               "decodes to " + std::to_string(found->second.bytes.size()) + " bytes, expected " + std::to_string(size));
    }
    return found->second.bytes.data();
}

TensorSource::Decoded TensorSource::inflated(const std::string& name, size_t size) const {
    const std::span<const std::byte> stream = stored(name, find(name));
    if (size > most_expansion * stream.size())
        refuse(name, "has " + std::to_string(size) + " bytes in a stream of " + std::to_string(stream.size()) +
                         ", more than " + std::to_string(most_expansion) + " times as many");
    auto bytes = std::make_shared<Buffer<uint8_t>>(size);
    try {
        const DeflateStream only{as_numbers(stream), {bytes->data(), size}};
        inflate({&only, 1});
    } catch (const ModelError& error) {
        refuse(name, std::string("is not a sound deflate stream: ") + error.what());
    }
    return {bytes, std::as_bytes(std::span(bytes->data(), size))};
}

void TensorSource::inflate_together(const std::string& name) const {
    std::vector<DeflateStream> streams;
    std::vector<std::pair<std::string, Decoded>> tensors;
    size_t total = 0;
    for (auto next = std::ranges::find(description_.deflated, name); next != description_.deflated.end(); ++next) {
        const TensorDescription& tensor = find(*next);
        const std::optional<size_t> size = inflated_size(tensor);
        if (!size || *size > most_together - total) break;
        if (decoded_.contains(*next)) continue;
        total += *size;
        auto bytes = std::make_shared<Buffer<uint8_t>>(*size);
        streams.push_back({as_numbers(stored(*next, tensor)), {bytes->data(), *size}});
        tensors.emplace_back(*next, Decoded{bytes, std::as_bytes(std::span(bytes->data(), *size))});
    }
    try {
        inflate(streams);
    } catch (const ModelError&) {
        return;  // Decompressing them one by one says which is damaged.
    }
    for (auto& [each, decoded] : tensors) decoded_.emplace(each, std::move(decoded));
}

const float* TensorSource::floats(const std::string& name, const std::vector<uint64_t>& shape) const {
    const float* values = unchecked_floats(name, shape);
    check_finite(name, {values, static_cast<size_t>(element_count(shape))});
    return values;
}

const float* TensorSource::unchecked_floats(const std::string& name, const std::vector<uint64_t>& shape) const {
    return static_cast<const float*>(elements(name, "F32", sizeof(float), shape));
}

void TensorSource::check_finite(const std::string& name, std::span<const float> values) {
    // Exponent bits all ones are infinity or NaN; one more reaches the sign. Compilers vectorize this loop.
    uint32_t found = 0;
    for (const float value : values) found |= (std::bit_cast<uint32_t>(value) & 0x7fffffffu) + 0x00800000u;
    if (found >> 31 != 0) refuse(name, "holds a value that is not a finite number");
}

const int8_t* TensorSource::signed_codes(const std::string& name, const std::vector<uint64_t>& shape) const {
    const int8_t* codes = static_cast<const int8_t*>(elements(name, "I8", 1, shape));
    if (std::memchr(codes, 0x80, element_count(shape)) != nullptr)
        refuse(name, "holds the code -128, codes must be -127 to 127");
    return codes;
}

const uint8_t* TensorSource::packed_codes(const std::string& name, const std::vector<uint64_t>& shape) const {
    return static_cast<const uint8_t*>(elements(name, "U8", 1, shape));
}

std::vector<float> TensorSource::scales(const std::string& name, const std::vector<uint64_t>& shape) const {
    if (find(name).dtype == "F32") {
        const float* values = floats(name, shape);
        return std::vector<float>(values, values + element_count(shape));
    }
    const uint16_t* halves = static_cast<const uint16_t*>(elements(name, "BF16", sizeof(uint16_t), shape));
    std::vector<float> values(element_count(shape));
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::bit_cast<float>(uint32_t{halves[i]} << 16);
    check_finite(name, values);
    return values;
}

float TensorSource::positive(const std::string& name) const {
    float value = *floats(name, {1});
    if (!(value > 1e-35f && value < 1e35f))
        throw ModelError("tensor " + name + ": " + number_text(value) + " is no scale of activations");
    return value;
}

void TensorSource::release(const std::string& name) const {
    decoded_.erase(name);
    if (!release_) return;
    const TensorDescription& tensor = find(name);
    release_(tensor.offset, tensor.size);
}

void TensorSource::release_part(const std::string& name, size_t first, size_t size) const {
    const TensorDescription& tensor = find(name);
    if (release_ && tensor.coding == TensorCoding::none) release_(tensor.offset + first, size);
}

}  // namespace pocketmt
