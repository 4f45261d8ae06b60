// The rates at which one core can calculate, read and write at most, for benchmarks/floor.py, benchmarks/kernels and
// benchmarks/between_products.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstring>

#include "kernels/shapes.h"
#include "testing/arrays.h"
#include "testing/limits/limits.h"
#include "testing/memory.h"

namespace nb = nanobind;

#define POCKETMT_FOREIGN(name)
#define POCKETMT_COMPILED(name)         \
    namespace pocketmt::testing::name { \
    extern const Limits limits;         \
    }
#include "instruction_sets.inc"
#undef POCKETMT_COMPILED

namespace pocketmt::testing {

namespace {

const Limits& limits_named(const std::string& name) {
    kernels_named(name);  // Throws if this CPU cannot run them.
#define POCKETMT_COMPILED(set) \
    if (name == #set) return set::limits;
#include "instruction_sets.inc"
#undef POCKETMT_COMPILED
    throw std::invalid_argument("there are no limits of the instruction set '" + name + "'");
}

template <class Work>
double seconds_of(Work&& work) {
    const auto start = std::chrono::steady_clock::now();
    volatile auto result = work();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    static_cast<void>(result);
    return elapsed.count();
}

constexpr size_t steps = 1 << 15;  // They take several hundred microseconds.

std::vector<double> time_multiply_adds(const std::string& instruction_set, const std::string& type, size_t rounds) {
    const Limits& limits = limits_named(instruction_set);
    require(type == "int8" || type == "float32", "the type int8 or float32");
    const bool integer = type == "int8";
    const size_t count = steps * (integer ? limits.integer_multiply_adds : limits.float_multiply_adds);
    std::vector<double> seconds(rounds);
    for (double& each : seconds) {
        each = integer ? seconds_of([&] { return limits.multiply_integers(steps); })
                       : seconds_of([&] { return limits.multiply_floats(steps); });
        each /= static_cast<double>(count);
    }
    return seconds;
}

std::vector<double> time_operations(const std::string& instruction_set, const std::string& operation, size_t rounds) {
    const Limits& limits = limits_named(instruction_set);
    require(operation == "simple" || operation == "division", "the operation simple or division");
    const bool simple = operation == "simple";
    const auto count = static_cast<double>(steps * (simple ? limits.float_operations : limits.float_divisions));
    std::vector<double> seconds(rounds);
    for (double& each : seconds)
        each = seconds_of([&] { return (simple ? limits.operate : limits.divide)(steps); }) / count;
    return seconds;
}

constexpr size_t least_moved_bytes = 8 << 20;  // Fewest bytes that a measurement reads or writes.

// Seconds of a byte of `bytes` that move(memory, bytes) reads or writes again and again.
template <class Move>
std::vector<double> time_bytes(size_t bytes, size_t rounds, Move&& move) {
    require(bytes > 0, "at least one byte");
    bytes = round_up(bytes, read_block);
    const Memory memory = allocate(bytes);
    std::memset(memory.get(), 1, bytes);
    const size_t passes = ceil_divide(least_moved_bytes, bytes);
    std::vector<double> seconds(rounds);
    move(memory.get(), bytes);
    for (double& each : seconds) {
        const double all = seconds_of([&] {
            int32_t sum = 0;
            for (size_t pass = 0; pass < passes; ++pass) sum += move(memory.get(), bytes);
            return sum;
        });
        each = all / static_cast<double>(passes * bytes);
    }
    return seconds;
}

std::vector<double> time_reads(const std::string& instruction_set, size_t bytes, size_t rounds) {
    return time_bytes(bytes, rounds, limits_named(instruction_set).read);
}

std::vector<double> time_writes(const std::string& instruction_set, size_t bytes, size_t rounds) {
    const Limits& limits = limits_named(instruction_set);
    return time_bytes(bytes, rounds, [&](void* memory, size_t size) {
        limits.write(memory, size);
        return int32_t{0};
    });
}

}  // namespace

void bind_floor(nb::module_& module) {
    module.def("time_multiply_adds", &time_multiply_adds, nb::arg("instruction_set"), nb::arg("type"),
               nb::arg("rounds"));
    module.def("time_operations", &time_operations, nb::arg("instruction_set"), nb::arg("operation"),
               nb::arg("rounds"));
    module.def("time_writes", &time_writes, nb::arg("instruction_set"), nb::arg("bytes"), nb::arg("rounds"));
    module.def("time_reads", &time_reads, nb::arg("instruction_set"), nb::arg("bytes"), nb::arg("rounds"));
}

}  // namespace pocketmt::testing
