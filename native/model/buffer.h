// Memory that a kernel may read and write: 64-byte aligned, not initialized.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace pocketmt {

constexpr size_t buffer_alignment = 64;

constexpr size_t round_up(size_t value, size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

template <class T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(size_t size) { ensure(size); }

    // At least `size` elements; what was held before is lost where it has to grow.
    T* ensure(size_t size) {
        if (size > capacity_) {
            memory_.reset();
            capacity_ = 0;
            if (size > max_elements) throw std::bad_alloc();
            memory_.reset(static_cast<T*>(::operator new[](size * sizeof(T), std::align_val_t{buffer_alignment})));
            capacity_ = size;
        }
        return memory_.get();
    }

    // Gives the memory back where it holds more than `bytes`.
    void trim(size_t bytes) {
        if (capacity_ * sizeof(T) > bytes) {
            memory_.reset();
            capacity_ = 0;
        }
    }

    T* data() { return memory_.get(); }
    const T* data() const { return memory_.get(); }

  private:
    static constexpr size_t max_elements = static_cast<size_t>(PTRDIFF_MAX) / sizeof(T);
    struct Release {
        void operator()(T* pointer) const { ::operator delete[](pointer, std::align_val_t{buffer_alignment}); }
    };
    std::unique_ptr<T[], Release> memory_;
    size_t capacity_ = 0;
};

}  // namespace pocketmt
