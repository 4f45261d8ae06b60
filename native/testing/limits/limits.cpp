// The limits of one instruction set. Bytes are multiplied as 6-bit weights are: the work that makes the products of
// 8-bit weights exact is not counted.
#include "testing/limits/limits.h"

#include <cstring>

#include "registers.h"
#if defined(POCKETMT_MULTIPLIES_TILES)
#include "tile_product/tile_registers.h"
#endif

namespace pocketmt::testing {

namespace {

// As many sums as registers have room for, and at least as many as hide the latency of the instructions.
constexpr size_t sums = Registers::lanes == 16 ? 16 : 10;
constexpr size_t read_sums = Registers::lanes == 16 ? 16 : 8;

// Hides a register's value from the compiler, which then cannot leave out a computation that it has done before.
template <class Register>
inline void hide(Register& value) {
    asm volatile("" : "+v"(value));
}

// Loops over an array of registers are unrolled: GCC keeps the array in memory otherwise.
template <size_t count, class Register>
inline void hide_all(Register (&values)[count]) {
    unrolled<count>([&](auto index) POCKETMT_INLINE_LAMBDA { hide(values[index()]); });
}

template <size_t count, class Register>
inline Register sum_of_all(const Register (&values)[count]) {
    Register total = values[0];
    unrolled<count - 1>([&](auto index) POCKETMT_INLINE_LAMBDA { total += values[index() + 1]; });
    return total;
}

template <class Register>
auto sum_of_lanes(Register values) {
    auto total = values[0];
    for (size_t lane = 1; lane < Registers::lanes; ++lane) total += values[lane];
    return total;
}

#if defined(POCKETMT_MULTIPLIES_TILES)
constexpr size_t tile_products = 4;  // Of a step.
constexpr size_t integer_multiply_adds = tile_products * tile_rows * tile_rows * tile_inputs;

int32_t multiply_integers(size_t steps) {
    const TileShapes shapes(tile_rows);
    alignas(64) int32_t sum[tile_rows][tile_rows];
    std::memset(sum, 0xfe, sizeof sum);  // Bytes of -2, or of 254.
    load_tile<4>(sum, sizeof sum[0]);
    load_tile<6>(sum, sizeof sum[0]);
    clear_sums();
    for (size_t step = 0; step < steps; ++step) {
        multiply_add_tiles<0, 4, 6>();
        multiply_add_tiles<1, 4, 6>();
        multiply_add_tiles<2, 4, 6>();
        multiply_add_tiles<3, 4, 6>();
    }
    store_tile<0>(sum, sizeof sum[0]);
    return sum[0][0];
}
#else
constexpr size_t integer_multiply_adds = sums * Registers::bytes;

int32_t multiply_integers(size_t steps) {
    const int8_t activations[16] = {-2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2};
    const auto inputs = Registers::sixteen_inputs(activations);
    Registers::Bytes weights = Registers::Bytes{} + uint8_t{3};
    Registers::Integers sum[sums] = {};
    hide_all(sum);
    for (size_t step = 0; step < steps; ++step) {
        hide(weights);
        unrolled<sums>([&](auto index)
                           POCKETMT_INLINE_LAMBDA { Registers::SixBitWeights(weights).add(sum[index()], inputs); });
    }
    return sum_of_lanes(sum_of_all(sum));
}
#endif

float multiply_floats(size_t steps) {
    const Registers::Floats activations = Registers::broadcast(-0.25f);
    Registers::Floats weights = Registers::broadcast(0.5f);
    Registers::Floats sum[sums] = {};
    hide_all(sum);
    for (size_t step = 0; step < steps; ++step) {
        hide(weights);
        unrolled<sums>([&](auto index) POCKETMT_INLINE_LAMBDA {
            sum[index()] = Registers::multiply_add(weights, activations, sum[index()]);
        });
    }
    return sum_of_lanes(sum_of_all(sum));
}

int32_t read(const void* memory, size_t bytes) {
    const auto* start = static_cast<const int32_t*>(memory);
    Registers::Integers sum[read_sums] = {};
    for (Registers::Integers& each : sum) hide(each);
    const size_t part = bytes / streams / sizeof(int32_t), step = read_sums / streams * Registers::lanes;
    for (size_t done = 0; done < part; done += step) {
        for (size_t i = 0; i < read_sums; ++i)
            sum[i] ^= Registers::load(start + i % streams * part + done + i / streams * Registers::lanes);
    }
    for (size_t i = 1; i < read_sums; ++i) sum[0] ^= sum[i];
    return sum_of_lanes(sum[0]);
}

// Sums and products that do not wait for each other, each: they hide the latency, and with two operands they fit 16
// registers.
constexpr size_t chains = 6;

float operate(size_t steps) {
    Registers::Floats summand = Registers::broadcast(0.5f), factor = Registers::broadcast(1.0f);
    Registers::Floats sum[chains] = {}, product[chains] = {};
    hide_all(sum);
    hide_all(product);
    for (size_t step = 0; step < steps; ++step) {
        hide(summand);
        hide(factor);
        unrolled<chains>([&](auto index) POCKETMT_INLINE_LAMBDA {
            sum[index()] += summand;
            product[index()] *= factor;
        });
    }
    return sum_of_lanes(sum_of_all(sum) + sum_of_all(product));
}

float divide(size_t steps) {
    Registers::Floats dividend = Registers::broadcast(3.0f);
    Registers::Floats quotient[chains];
    for (Registers::Floats& each : quotient) each = Registers::broadcast(1.5f);
    hide_all(quotient);
    for (size_t step = 0; step < steps; ++step) {
        hide(dividend);
        unrolled<chains>([&](auto index) POCKETMT_INLINE_LAMBDA { quotient[index()] = dividend / quotient[index()]; });
    }
    return sum_of_lanes(sum_of_all(quotient));
}

void write(void* memory, size_t bytes) {
    auto* to = static_cast<float*>(memory);
    Registers::Floats values{};
    hide(values);
    for (size_t done = 0; done < bytes / sizeof(float); done += read_block / sizeof(float)) {
        unrolled<read_block / Registers::bytes>([&](auto index) POCKETMT_INLINE_LAMBDA {
            Registers::store(to + done + index() * Registers::lanes, values);
        });
    }
}

}  // namespace

namespace POCKETMT_INSTRUCTION_SET {

extern constinit const Limits limits = {
    integer_multiply_adds,         sums * Registers::lanes,   multiply_integers, multiply_floats, read,
    2 * chains * Registers::lanes, chains * Registers::lanes, operate,           divide,          write};

}  // namespace POCKETMT_INSTRUCTION_SET
}  // namespace pocketmt::testing
