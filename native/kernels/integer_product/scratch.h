// Memory for the time of a product: on the stack if it is small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace pocketmt {
namespace {

template <size_t stack_bytes>
class Scratch {
  public:
    explicit Scratch(size_t bytes) : bytes_(bytes <= stack_bytes ? own_ : new_bytes(bytes)) {}
    ~Scratch() {
        if (bytes_ != own_) ::operator delete(bytes_, std::align_val_t(alignment));
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    uint8_t* data() const { return bytes_; }

  private:
    static constexpr size_t alignment = 64;

    static uint8_t* new_bytes(size_t count) {
        return static_cast<uint8_t*>(::operator new(count, std::align_val_t(alignment)));
    }

    alignas(alignment) uint8_t own_[stack_bytes];
    uint8_t* bytes_;
};

}  // namespace
}  // namespace pocketmt
