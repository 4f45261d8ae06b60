// What one core can do at most: multiply-adds in registers, and reading. The engine's products are measured against it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pocketmt::testing {

struct Limits {
    // Each call does `steps` times as many multiply-adds, in sums that do not wait for each other; the result is to be
    // used, so that nothing is left out.
    size_t integer_multiply_adds;  // of a step: unsigned by signed bytes, summed in 32 bits
    size_t float_multiply_adds;    // fused, float32
    int32_t (*multiply_integers)(size_t steps);
    float (*multiply_floats)(size_t steps);
    // Reads every byte, of which there are a multiple of read_block, four parts at once: a single stream is slower.
    int32_t (*read)(const void* memory, size_t bytes);
};
constexpr size_t streams = 4;
constexpr size_t read_block = 1024;

// Hides from the compiler what a register holds: what is computed from it is computed again.
template <class Register>
inline void hide(Register& value) {
    asm volatile("" : "+v"(value));
}
// Equal sums would be computed once.
template <class Register, size_t count>
inline void hide(Register (&values)[count]) {
    for (Register& value : values) hide(value);
}

namespace avx2 {
extern const Limits limits;
}
namespace avx512_vnni {
extern const Limits limits;
}

}  // namespace pocketmt::testing
