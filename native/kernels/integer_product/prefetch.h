// Reading ahead of the products.
#pragma once

#include <cstddef>

#include "shapes.h"

namespace pocketmt {
namespace {

constexpr size_t cache_line = 64;

constexpr size_t page = 4096;
constexpr size_t far_ahead = 4 * page;  // For registers that multiply fast; measured on Zen 5.

// Asks for `bytes` of weights `distance` before they are read.
template <size_t bytes, size_t distance = page>
POCKETMT_INLINE void prefetch(const void* weights) {
    unrolled<ceil_divide(bytes, cache_line)>([&](auto index) POCKETMT_INLINE_LAMBDA {
        __builtin_prefetch(static_cast<const char*>(weights) + distance + index() * cache_line);
    });
}

}  // namespace
}  // namespace pocketmt
