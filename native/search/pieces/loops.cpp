#include "search/pieces/loops.h"

namespace pocketmt {

bool ends_in_loop(std::span<const uint32_t> tokens, uint32_t next, size_t times) {
    const size_t length = tokens.size() + 1;
    const auto from_end = [&](size_t place) { return place == 0 ? next : tokens[tokens.size() - place]; };
    for (size_t period = 1; period <= length / times; ++period) {
        const size_t pairs = period * (times - 1);
        size_t equal = 0;
        while (equal < pairs && from_end(equal) == from_end(equal + period)) ++equal;
        if (equal == pairs) return true;
    }
    return false;
}

}  // namespace pocketmt
