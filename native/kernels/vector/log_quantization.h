// Quantization of activations to powers of two on a fixed scale (Aji and Heafield 2020, section 3.5).
#pragma once

#include "vector/lanes.h"

namespace pocketmt {
namespace {

// The power of two nearest to a positive number, the lower one in the middle (Aji and Heafield 2020, section 3.1):
// adding almost half of the leading bit carries into the exponent above the middle.
template <class T>
POCKETMT_INLINE T nearest_power_of_two(T value) {
    if constexpr (is_pair<T>) {
        return {nearest_power_of_two(value.low), nearest_power_of_two(value.high)};
    } else {
        typedef uint32_t Bits __attribute__((vector_size(sizeof(T))));
        return (T)(((Bits)value + 0x003fffffu) & 0x7f800000u);
    }
}

// The levels of 16 activations, each + rounding_shift.
POCKETMT_INLINE Floats shifted_levels(Floats x, Floats inverse, Floats top) {
    const Floats magnitude = maximum(broadcast(1.0f), absolute(x) * inverse);
    const Floats power = nearest_power_of_two(where_greater(magnitude, top, top, magnitude));
    const Floats level = where_greater(power, broadcast(127.0f), broadcast(127.0f), power);
    return where_greater(Floats{}, x, broadcast(rounding_shift) - level, broadcast(rounding_shift) + level);
}

inline void quantize_rows_logarithmic(const float* x, size_t x_stride, size_t count, size_t columns, float top,
                                      float scale, int8_t* codes, float* scales, size_t stride) {
    const Floats inverse = broadcast(top / scale), tops = broadcast(top);
    for (size_t row = 0; row < count; ++row, x += x_stride, codes += stride) {
        scales[row] = scale / top;
        size_t column = 0;
        for (; column + lanes <= columns; column += lanes)
            store_bytes(codes + column, shifted_levels(load(x + column), inverse, tops));
        if (column < columns) {  // The stride is a multiple of 64, so there is room for 16.
            const Floats rest = load_first(x + column, columns - column);
            store_bytes(codes + column, shifted_levels(rest, inverse, tops));
        }
        __builtin_memset(codes + columns, 0, stride - columns);
    }
}

}  // namespace
}  // namespace pocketmt
