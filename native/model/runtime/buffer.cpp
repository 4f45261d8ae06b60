#include "model/runtime/buffer.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <new>

namespace pocketmt {

#if defined(__linux__)

namespace {

constexpr size_t mapped_from = size_t{1} << 20;

}  // namespace

void* allocate(size_t bytes) {
    if (bytes < mapped_from) return ::operator new(bytes, std::align_val_t{buffer_alignment});
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: the system may use small pages
    return memory;
}

void release(void* memory, size_t bytes) {
    if (bytes < mapped_from) {
        ::operator delete(memory, std::align_val_t{buffer_alignment});
    } else {
        munmap(memory, bytes);
    }
}

#else

void* allocate(size_t bytes) {
    return ::operator new(bytes, std::align_val_t{buffer_alignment});
}

void release(void* memory, size_t) {
    ::operator delete(memory, std::align_val_t{buffer_alignment});
}

#endif

}  // namespace pocketmt
