// Memory that a kernel may read and write: 64-byte aligned, not initialized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace pocketmt {

constexpr size_t buffer_alignment = 64;

constexpr size_t round_up(size_t value, size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

// Aligned memory. Large blocks are mapped separately, with huge pages if the system has them: weights are read from end
// to end for each token, and huge pages need fewer address look-ups. Released blocks go back to the system at once.
void* allocate(size_t bytes);
void release(void* memory, size_t bytes);

template <class T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(size_t size) { ensure(size); }
    ~Buffer() { clear(); }
    Buffer(Buffer&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }

    // At least `size` elements; growing loses the contents.
    T* ensure(size_t size) {
        if (size > capacity_) {
            clear();
            if (size > max_elements) throw std::bad_alloc();
            memory_ = static_cast<T*>(allocate(size * sizeof(T)));
            capacity_ = size;
        }
        return memory_;
    }

    // Frees the memory if it has more than `bytes`.
    void trim(size_t bytes) {
        if (capacity_ * sizeof(T) > bytes) clear();
    }

    T* data() { return memory_; }
    const T* data() const { return memory_; }

  private:
    static constexpr size_t max_elements = static_cast<size_t>(PTRDIFF_MAX) / sizeof(T);

    void clear() {
        if (memory_ != nullptr) release(memory_, capacity_ * sizeof(T));
        memory_ = nullptr;
        capacity_ = 0;
    }

    T* memory_ = nullptr;
    size_t capacity_ = 0;
};

}  // namespace pocketmt
