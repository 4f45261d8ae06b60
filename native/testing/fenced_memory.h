// Memory in which a kernel that leaves its arrays is noticed: an array ends where an unreadable page begins, so that
// touching what follows ends the process; what stands before it and between its rows is NaN, and is looked at
// afterwards.
#pragma once

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace pocketmt::testing {

class FencedBytes {
  public:
    // Every byte is 0xff: four of them are a NaN. `alignment` is a power of two of at most 64; an array whose size is
    // no multiple of it is followed by guarded bytes before the unreadable page.
    FencedBytes(size_t size, size_t alignment);
    ~FencedBytes();
    FencedBytes(const FencedBytes&) = delete;
    FencedBytes& operator=(const FencedBytes&) = delete;

    unsigned char* data() const { return data_; }
    // Throws std::runtime_error where a byte around the array was written.
    void check() const;

  private:
    size_t size_;
    size_t readable_;
    size_t mapped_;
    unsigned char* memory_;
    unsigned char* data_;
};

// Whether all bytes are as FencedBytes left them.
bool untouched(const unsigned char* first, const unsigned char* last);

// `count` rows of `width` elements with `gap` guarded ones between them.
template <class T>
class FencedRows {
  public:
    FencedRows(size_t count, size_t width, size_t gap)
        : count_(count),
          width_(width),
          gap_(gap),
          bytes_((count * (width + gap) - (count ? gap : 0)) * sizeof(T), alignof(T)) {}
    FencedRows(const T* values, size_t count, size_t width, size_t gap) : FencedRows(count, width, gap) {
        for (size_t index = 0; index < count; ++index)
            std::memcpy(row(index), values + index * width, width * sizeof(T));
    }

    T* data() const { return reinterpret_cast<T*>(bytes_.data()); }
    T* row(size_t index) const { return data() + index * stride(); }
    size_t stride() const { return width_ + gap_; }
    // The rows without gaps; throws std::runtime_error where something else was written.
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
    FencedBytes bytes_;
};

}  // namespace pocketmt::testing
