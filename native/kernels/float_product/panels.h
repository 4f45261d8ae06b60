// Packed fp32 weights: [panels][columns][width] floats, a panel being `width` neighbouring outputs (the last one padded
// with zeros), so that a product reads the weights once, in order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pocketmt {

template <size_t width>
struct FloatPanels {
    static size_t packed_bytes(size_t rows, size_t columns);
    static void pack(const float* weight, size_t rows, size_t columns, void* packed);
    static void unpack_row(const void* packed, size_t rows, size_t columns, size_t row, float* out);
    static void gather(const void* packed, size_t rows, size_t columns, const uint32_t* indices, size_t count,
                       void* gathered);
};

// Compiled once, for the baseline instruction set, in panels.cpp.
extern template struct FloatPanels<16>;
extern template struct FloatPanels<32>;
extern template struct FloatPanels<64>;

}  // namespace pocketmt
