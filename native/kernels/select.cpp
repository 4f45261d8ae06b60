// Which kernels this CPU can run, and which it will. Compiled for the baseline instruction set.
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include "kernels.h"
#include "tables.h"

namespace pocketmt {

namespace {

struct Features {
    bool avx2 = false;
    bool avx_vnni = false;
    bool avx512_vnni = false;
    bool neon_dot_product = false;
};

#if defined(__x86_64__)

constexpr bool bit(unsigned word, int index) {
    return (word >> index & 1u) != 0;
}

// Which registers the operating system saves at a context switch: XCR0, read by xgetbv.
unsigned saved_registers() {
    unsigned low = 0;
    unsigned high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

// Bits: Intel SDM volume 2, CPUID leaves 1 and 7; XCR0 bits 1-2 (SSE, AVX) and 5-7 (AVX-512), volume 1, 13.3.
Features detect() {
    Features features;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return features;
    const bool os_reports_registers = bit(c, 27);
    const bool fma = bit(c, 12);
    if (!os_reports_registers || !bit(c, 28) || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return features;
    const unsigned saved = saved_registers();
    features.avx2 = (saved & 0x06u) == 0x06u && fma && bit(b, 5);
    const bool avx512 = bit(b, 16) && bit(b, 17) && bit(b, 30) && bit(b, 31);  // F, DQ, BW, VL
    features.avx512_vnni = features.avx2 && (saved & 0xe6u) == 0xe6u && avx512 && bit(c, 11);
    const bool second_part = a >= 1;  // of leaf 7
    features.avx_vnni = features.avx2 && second_part && __get_cpuid_count(7, 1, &a, &b, &c, &d) && bit(a, 4);
    return features;
}

#elif defined(__aarch64__) && defined(__linux__)

// What Linux tells of the CPU; NEON itself is in the baseline.
Features detect() {
    Features features;
    features.neon_dot_product = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
    return features;
}

#else

Features detect() {
    return {};
}

#endif

std::string supported_names() {
    std::string names;
    for (const NamedInstructionSet& named : instruction_sets) {
        if (supported(named.instruction_set)) names += (names.empty() ? "" : ", ") + std::string(named.name);
    }
    return names;
}

const char* name_of(InstructionSet instruction_set) {
    for (const NamedInstructionSet& named : instruction_sets) {
        if (named.instruction_set == instruction_set) return named.name;
    }
    return "unknown";
}

InstructionSet requested(std::string_view name) {
    for (const NamedInstructionSet& named : instruction_sets) {
        if (name == named.name) return named.instruction_set;
    }
    throw std::runtime_error(
        "POCKETMT_INSTRUCTION_SET is '" + std::string(name) +
        "', which is no instruction set of this engine; unset it, or set it to one of those that this CPU has: " +
        supported_names());
}

}  // namespace

bool supported(InstructionSet instruction_set) {
    static const Features features = detect();
    switch (instruction_set) {
        case InstructionSet::portable:
            return true;
        case InstructionSet::avx2:
            return features.avx2;
        case InstructionSet::avx_vnni:
            return features.avx_vnni;
        case InstructionSet::avx512_vnni:
            return features.avx512_vnni;
        case InstructionSet::neon_dot_product:
            return features.neon_dot_product;
    }
    return false;
}

const Kernels& kernels(InstructionSet instruction_set) {
    if (!supported(instruction_set)) {
        throw std::runtime_error(std::string("this CPU or its operating system does not offer ") +
                                 name_of(instruction_set) +
                                 "; unset POCKETMT_INSTRUCTION_SET, or set it to one of: " + supported_names());
    }
#if defined(__x86_64__)
    static const Kernels avx2_kernels = {InstructionSet::avx2,    "avx2",
                                         avx2::float_product,     avx2::integer_product,
                                         avx2::six_bit_product,   avx2::level_table_product,
                                         avx2::row_table_product, avx2::bit_plane_product,
                                         avx2::vector_functions,  avx2::grid_functions};
    static const Kernels avx_vnni_kernels = {InstructionSet::avx_vnni,    "avx_vnni",
                                             avx2::float_product,         avx_vnni::integer_product,
                                             avx_vnni::six_bit_product,   avx_vnni::level_table_product,
                                             avx_vnni::row_table_product, avx2::bit_plane_product,
                                             avx2::vector_functions,      avx2::grid_functions};
    static const Kernels avx512_vnni_kernels = {InstructionSet::avx512_vnni,    "avx512_vnni",
                                                avx512_vnni::float_product,     avx512_vnni::integer_product,
                                                avx512_vnni::six_bit_product,   avx512_vnni::level_table_product,
                                                avx512_vnni::row_table_product, avx512_vnni::bit_plane_product,
                                                avx512_vnni::vector_functions,  avx512_vnni::grid_functions};
    if (instruction_set == InstructionSet::avx512_vnni) return avx512_vnni_kernels;
    if (instruction_set == InstructionSet::avx_vnni) return avx_vnni_kernels;
    if (instruction_set == InstructionSet::avx2) return avx2_kernels;
#elif defined(__aarch64__)
    static const Kernels neon_dot_product_kernels = {
        InstructionSet::neon_dot_product,    "neon_dot_product",
        neon_dot_product::float_product,     neon_dot_product::integer_product,
        neon_dot_product::six_bit_product,   neon_dot_product::level_table_product,
        neon_dot_product::row_table_product, neon_dot_product::bit_plane_product,
        neon_dot_product::vector_functions,  neon_dot_product::grid_functions};
    if (instruction_set == InstructionSet::neon_dot_product) return neon_dot_product_kernels;
#endif
    static const Kernels portable_kernels = {InstructionSet::portable,    "portable",
                                             portable::float_product,     portable::integer_product,
                                             portable::six_bit_product,   portable::level_table_product,
                                             portable::row_table_product, portable::bit_plane_product,
                                             portable::vector_functions,  portable::grid_functions};
    return portable_kernels;
}

const Kernels& best_kernels() {
    const char* name = std::getenv("POCKETMT_INSTRUCTION_SET");
    if (name && *name) return kernels(requested(name));
    for (const NamedInstructionSet& named : instruction_sets) {
        if (supported(named.instruction_set)) return kernels(named.instruction_set);
    }
    return kernels(InstructionSet::portable);
}

}  // namespace pocketmt
