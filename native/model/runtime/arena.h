// Memory for packed weights: contiguous, so that huge pages hold them, and freed all at once.
#pragma once

#include <cstddef>
#include <vector>

#include "model/runtime/buffer.h"

namespace pocketmt {

class Arena {
  public:
    // Memory aligned to a cache line, valid as long as the arena.
    void* allocate(size_t bytes);

  private:
    struct Region {
        Buffer<std::byte> memory;
        std::byte* next;
        size_t left;  // bytes
    };

    std::vector<Region> regions_;
};

}  // namespace pocketmt
