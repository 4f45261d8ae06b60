// Helpers for shapes and for loops that the compiler unrolls.
//
// Code that is compiled for several instruction sets is in an unnamed namespace or in the namespace of its instruction
// set. If object files shared it, the linker could keep a copy that this CPU cannot run.
#pragma once

#include <cstddef>
#include <utility>

#define POCKETMT_INLINE inline __attribute__((always_inline))
#define POCKETMT_INLINE_LAMBDA __attribute__((always_inline))

namespace pocketmt {
namespace {

constexpr size_t ceil_divide(size_t value, size_t divisor) {
    return (value + divisor - 1) / divisor;
}
constexpr size_t round_up(size_t value, size_t multiple) {
    return ceil_divide(value, multiple) * multiple;
}
constexpr size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}
constexpr size_t larger(size_t a, size_t b) {
    return a < b ? b : a;
}

template <size_t value>
struct Constant {
    constexpr size_t operator()() const { return value; }
};

// Calls body(Constant<0>), ..., body(Constant<count - 1>) without a loop: accumulators indexed by the constants become
// registers at every optimisation level that has any.
template <size_t count, class Body>
POCKETMT_INLINE void unrolled(Body&& body) {
    [&]<size_t... index>(std::index_sequence<index...>)
        POCKETMT_INLINE_LAMBDA { (body(Constant<index>{}), ...); }(std::make_index_sequence<count>{});
}

// Cuts `count` rows into as few tiles of at most `highest` rows as possible, of nearly equal height: body(first_row,
// height).
template <size_t highest, class Body>
POCKETMT_INLINE void for_tiles(size_t count, Body&& body) {
    const size_t tiles = ceil_divide(count, highest);
    for (size_t tile = 0, row = 0; tile < tiles; ++tile) {
        const size_t height = count / tiles + (tile < count % tiles ? 1 : 0);
        body(row, height);
        row += height;
    }
}

// The tile functions of a product: functions[n - 1] computes n rows.
template <class Function, size_t highest>
struct TileFunctions {
    Function functions[highest];
};

// choose(Constant<n>) returns the tile function of n rows.
template <size_t highest, class Choose>
constexpr auto tile_functions(Choose choose) {
    return [&]<size_t... index>(std::index_sequence<index...>) {
        return TileFunctions<decltype(choose(Constant<1>{})), highest>{{choose(Constant<index + 1>{})...}};
    }(std::make_index_sequence<highest>{});
}

}  // namespace
}  // namespace pocketmt
