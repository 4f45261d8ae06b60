// Reading ahead of the products.
#pragma once

#include <cstddef>

#include "shapes.h"

namespace pocketmt {
namespace {

constexpr size_t cache_line = 64;

// Asks for `bytes` of weights a page before they are read; processors do not read as far ahead.
template <size_t bytes>
POCKETMT_INLINE void prefetch_page(const void* weights) {
    constexpr size_t page = 4096;
    unrolled<ceil_divide(bytes, cache_line)>([&](auto index) POCKETMT_INLINE_LAMBDA {
        __builtin_prefetch(static_cast<const char*>(weights) + page + index() * cache_line);
    });
}

}  // namespace
}  // namespace pocketmt
