// What one core can do at most: multiply-adds, separate operations and divisions in registers, reading and writing. The
// engine's products, and its functions between them, are measured against it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pocketmt::testing {

struct Limits {
    // Number of multiply-adds of one step: of unsigned by signed bytes, summed in 32 bits, and of float32.
    size_t integer_multiply_adds;
    size_t float_multiply_adds;
    // Compute that many multiply-adds `steps` times, in sums that do not wait for each other. The caller must use the
    // result, or the compiler would leave the work out.
    int32_t (*multiply_integers)(size_t steps);
    float (*multiply_floats)(size_t steps);
    // Reads every byte, in four streams at once, because a single stream is slower. `bytes` is a multiple of
    // read_block.
    int32_t (*read)(const void* memory, size_t bytes);
    // Number of additions and multiplications of float32, as many of one as of the other, and of divisions of one step.
    size_t float_operations;
    size_t float_divisions;
    // Compute them as multiply_floats does; a multiplication and an addition are not fused, as in the vector functions.
    float (*operate)(size_t steps);
    float (*divide)(size_t steps);
    // Writes every byte; `bytes` as of `read`.
    void (*write)(void* memory, size_t bytes);
};
constexpr size_t streams = 4;
constexpr size_t read_block = 1024;

}  // namespace pocketmt::testing
