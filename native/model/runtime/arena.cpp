#include "model/runtime/arena.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace pocketmt {

namespace {

#if defined(__wasm__)
// There are no huge pages, and all of a region takes memory.
constexpr size_t huge_page = buffer_alignment;
constexpr size_t region_bytes = size_t{1} << 18;
#else
constexpr size_t huge_page = size_t{2} << 20;
// Size of a region. Pages that are never written take no memory.
constexpr size_t region_bytes = size_t{16} << 20;
#endif

}  // namespace

void* Arena::allocate(size_t bytes) {
    bytes = round_up(bytes, buffer_alignment);
    // The first region with room: smaller blocks fill the rest of regions that are too full for larger ones.
    auto region =
        std::find_if(regions_.begin(), regions_.end(), [&](const Region& each) { return bytes <= each.left; });
    if (region == regions_.end()) {
        size_t size = std::max(round_up(bytes, huge_page), region_bytes);
        Buffer<std::byte> memory(size + huge_page);
        std::byte* start = memory.data();
        start += (huge_page - reinterpret_cast<uintptr_t>(start) % huge_page) % huge_page;
        region = regions_.insert(regions_.end(), {std::move(memory), start, size});
    }
    std::byte* memory = region->next;
    region->next += bytes;
    region->left -= bytes;
    return memory;
}

}  // namespace pocketmt
