// Memory for what is timed, aligned as packed weights are.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace pocketmt::testing {

struct Freed {
    void operator()(void* memory) const { ::operator delete(memory, std::align_val_t(64)); }
};
using Memory = std::unique_ptr<void, Freed>;

inline Memory allocate(size_t bytes) {
    return Memory(::operator new(bytes, std::align_val_t(64)));
}

}  // namespace pocketmt::testing
