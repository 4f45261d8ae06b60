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
    struct Region {
        Buffer<std::byte> memory;
        std::byte* next;
        size_t left;  // bytes
    };

    std::vector<Region> regions_;
};

}  // namespace pocketmt
