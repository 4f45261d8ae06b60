// Registers as the compiler's vectors, with the operations that are the same on every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu.h"
#include "intrinsics.h"
#include "shapes.h"

namespace pocketmt {
namespace {

typedef float Float4 __attribute__((vector_size(16)));
typedef float Float8 __attribute__((vector_size(32)));
typedef float Float16 __attribute__((vector_size(64)));

// Registers of `register_lanes` lanes of 32 bits.
template <size_t register_lanes>
struct VectorRegisters {
    static constexpr size_t lanes = register_lanes;
    static constexpr size_t bytes = 4 * lanes;
    typedef float Floats __attribute__((vector_size(bytes)));
    typedef int32_t Integers __attribute__((vector_size(bytes)));
    typedef uint8_t Bytes __attribute__((vector_size(bytes)));

    static constexpr bool unrolls_rows = true;
    static constexpr size_t expanding_rows = 0;
    static constexpr size_t expanding_six_bit_rows = 0;
    static constexpr size_t expanding_table_rows = 0;
    static constexpr bool expands_tables = false;
    static constexpr size_t batch_rows = 12;
    static constexpr size_t whole_panel_rows = static_cast<size_t>(-1);
    static constexpr size_t whole_decoded_panel_rows = whole_panel_rows;
    static constexpr size_t two_stream_rows = 0;
    static constexpr bool reads_far_ahead = false;
    static bool few_rows_read_a_page_ahead() { return false; }

    POCKETMT_INLINE static Floats load(const float* from) { return loaded<Floats>(from); }
    POCKETMT_INLINE static Integers load(const int32_t* from) { return loaded<Integers>(from); }
    POCKETMT_INLINE static Bytes load(const uint8_t* from) { return loaded<Bytes>(from); }
    POCKETMT_INLINE static Floats broadcast(float value) { return value - Floats{}; }  // Keeps the sign of -0.
    POCKETMT_INLINE static Integers broadcast(int32_t value) { return value - Integers{}; }

    // Loads the first `valid` lanes; the others are 0, and memory beyond them is not read.
    POCKETMT_INLINE static Floats load_first(const float* from, size_t valid) {
        if (valid >= lanes) return load(from);
        float copy[lanes] = {};
        for (size_t lane = 0; lane < valid; ++lane) copy[lane] = from[lane];
        return load(copy);
    }
    POCKETMT_INLINE static void store_first(float* to, size_t valid, Floats values) {
        if (valid >= lanes) return store(to, values);
        float copy[lanes];
        store(copy, values);
        for (size_t lane = 0; lane < valid; ++lane) to[lane] = copy[lane];
    }
    POCKETMT_INLINE static void store(float* to, Floats values) { __builtin_memcpy(to, &values, sizeof values); }

    // The low (half 0) or high (half 1) 4 bits of each byte.
    template <size_t half>
    POCKETMT_INLINE static Bytes nibbles(Bytes values) {
        return shifted<-4 * static_cast<int>(half)>(values) & 15;
    }
    // Each byte shifted to the left, or to the right where the amount is negative. Bits of neighbouring bytes are
    // shifted in.
    template <int amount>
    POCKETMT_INLINE static Bytes shifted(Bytes values) {
        typedef uint16_t Words __attribute__((vector_size(bytes)));
        if constexpr (amount > 0) return (Bytes)((Words)values << amount);
        if constexpr (amount < 0) return (Bytes)((Words)values >> -amount);
        return values;
    }
    // low | (high & mask).
    POCKETMT_INLINE static Bytes insert(Bytes low, Bytes high, uint8_t mask) { return low | (high & mask); }

  private:
    template <class Register, class T>
    POCKETMT_INLINE static Register loaded(const T* from) {
        Register values;
        __builtin_memcpy(&values, from, sizeof values);
        return values;
    }
};

}  // namespace
}  // namespace pocketmt
