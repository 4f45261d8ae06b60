#include "model/arena.h"

#include <algorithm>
#include <cstdint>

namespace pocketmt {

namespace {

constexpr size_t huge_page = size_t{2} << 20;
// Of a region. Pages never written to take no memory.
constexpr size_t region_bytes = size_t{16} << 20;

}  // namespace

void* Arena::allocate(size_t bytes) {
    bytes = round_up(bytes, buffer_alignment);
    if (bytes > left_) {
        left_ = std::max(round_up(bytes, huge_page), region_bytes);
        std::byte* start = regions_.emplace_back(left_ + huge_page).data();
        next_ = start + (huge_page - reinterpret_cast<uintptr_t>(start) % huge_page) % huge_page;
    }
    std::byte* memory = next_;
    next_ += bytes;
    left_ -= bytes;
    return memory;
}

}  // namespace pocketmt
