#include "testing/memory.h"

#include "model/runtime/buffer.h"

namespace pocketmt::testing {

void Freed::operator()(void* memory) const {
    release(memory, bytes);
}

Memory allocate(size_t bytes) {
    return Memory(pocketmt::allocate(bytes), Freed{bytes});
}

}  // namespace pocketmt::testing
