// Where packed weights lie: side by side, so that huge pages hold them. Everything is given back at once.
#pragma once

#include <cstddef>
#include <vector>

#include "model/buffer.h"

namespace pocketmt {

class Arena {
  public:
    // Memory on a cache line's boundary, valid as long as the arena.
    void* allocate(size_t bytes);

  private:
    std::vector<Buffer<std::byte>> regions_;
    std::byte* next_ = nullptr;
    size_t left_ = 0;  // bytes of the last region
};

}  // namespace pocketmt
