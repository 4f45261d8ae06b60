// Translations that repeat themselves without end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pocketmt {

// Whether `tokens` and `next` after them end in one sequence, of any length, `times` times in a row; `times` is at
// least 2.
bool ends_in_loop(std::span<const uint32_t> tokens, uint32_t next, size_t times);

}  // namespace pocketmt
