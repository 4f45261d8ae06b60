// Memory for what is timed: that of packed weights in the engine, with huge pages if it is large.
#pragma once

#include <cstddef>
#include <memory>

namespace pocketmt::testing {

struct Freed {
    size_t bytes = 0;
    void operator()(void* memory) const;
};
using Memory = std::unique_ptr<void, Freed>;

Memory allocate(size_t bytes);

}  // namespace pocketmt::testing
