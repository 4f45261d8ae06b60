#include "testing/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "kernels/shapes.h"

namespace pocketmt::testing {

namespace {

constexpr unsigned char guard = 0xff;
constexpr size_t guarded_before = 256;

}  // namespace

GuardedBytes::GuardedBytes(size_t size, size_t alignment) : size_(size) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t aligned = round_up(size, alignment);
    readable_ = round_up(guarded_before + aligned, page);
    mapped_ = readable_ + page;
    void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<unsigned char*>(memory);
    std::memset(memory_, guard, readable_);
    if (mprotect(memory_ + readable_, page, PROT_NONE) != 0) {
        munmap(memory_, mapped_);
        throw std::bad_alloc();
    }
    data_ = memory_ + readable_ - aligned;
}

GuardedBytes::~GuardedBytes() {
    munmap(memory_, mapped_);
}

void GuardedBytes::check() const {
    if (!untouched(memory_, data_)) throw std::runtime_error("a kernel wrote before the start of an array");
    if (!untouched(data_ + size_, memory_ + readable_))
        throw std::runtime_error("a kernel wrote beyond the end of an array");
}

bool untouched(const unsigned char* first, const unsigned char* last) {
    return std::all_of(first, last, [](unsigned char byte) { return byte == guard; });
}

}  // namespace pocketmt::testing
