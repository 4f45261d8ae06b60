// Memory that detects kernels which read or write outside their arrays. An unreadable guard page follows each array, so
// that touching it ends the process. The bytes before an array and between its rows are NaN and are checked afterwards.
#pragma once

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace pocketmt::testing {

class GuardedBytes {
  public:
    // Fills the memory with bytes of 0xff, of which four are a NaN. `alignment` is a power of two up to 64. If the size
    // is no multiple of it, guarded bytes lie between the array and the guard page.
    GuardedBytes(size_t size, size_t alignment);
    ~GuardedBytes();
    GuardedBytes(const GuardedBytes&) = delete;
    GuardedBytes& operator=(const GuardedBytes&) = delete;

    unsigned char* data() const { return data_; }
    // Throws std::runtime_error if a byte around the array was written.
    void check() const;

  private:
    size_t size_;
    size_t readable_;
    size_t mapped_;
    unsigned char* memory_;
    unsigned char* data_;
};

// Whether all bytes have the value that GuardedBytes wrote.
bool untouched(const unsigned char* first, const unsigned char* last);

// `count` rows of `width` elements, with `gap` guarded elements between them.
template <class T>
class GuardedRows {
  public:
    GuardedRows(size_t count, size_t width, size_t gap)
        : count_(count),
          width_(width),
          gap_(gap),
          bytes_((count * (width + gap) - (count ? gap : 0)) * sizeof(T), alignof(T)) {}
    GuardedRows(const T* values, size_t count, size_t width, size_t gap) : GuardedRows(count, width, gap) {
        for (size_t index = 0; index < count; ++index)
            std::memcpy(row(index), values + index * width, width * sizeof(T));
    }

    T* data() const { return reinterpret_cast<T*>(bytes_.data()); }
    T* row(size_t index) const { return data() + index * stride(); }
    size_t count() const { return count_; }
    size_t stride() const { return width_ + gap_; }
    // Returns the rows without gaps; throws std::runtime_error if a guarded byte was written.
    std::vector<T> values() const {
        bytes_.check();
        std::vector<T> values;
        for (size_t index = 0; index < count_; ++index) {
            values.insert(values.end(), row(index), row(index) + width_);
            const T* end = row(index) + width_;
            const size_t guarded = index + 1 < count_ ? gap_ : 0;
            if (!untouched(reinterpret_cast<const unsigned char*>(end),
                           reinterpret_cast<const unsigned char*>(end + guarded)))
                throw std::runtime_error("a kernel wrote between the rows of an array");
        }
        return values;
    }

  private:
    size_t count_;
    size_t width_;
    size_t gap_;
    GuardedBytes bytes_;
};

}  // namespace pocketmt::testing
