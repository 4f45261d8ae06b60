#include "cpu.h"

#include <cstring>

#if defined(__linux__)
#include <cstdio>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include "shapes.h"

namespace pocketmt {

namespace {

#if defined(__x86_64__)

bool is_set(const CpuidBit& needed) {
    uint32_t words[4] = {};
    if (needed.subleaf > 0) {  // Leaves that have subleaves return the highest one in eax of subleaf 0.
        if (!__get_cpuid_count(needed.leaf, 0, &words[0], &words[1], &words[2], &words[3])) return false;
        if (words[0] < needed.subleaf) return false;
    }
    if (!__get_cpuid_count(needed.leaf, needed.subleaf, &words[0], &words[1], &words[2], &words[3])) return false;
    return (words[static_cast<unsigned>(needed.place)] >> needed.bit & 1u) != 0;
}

uint32_t saved_registers() {
    constexpr CpuidBit has_xgetbv{1, 0, CpuidRegister::ecx, 27};
    if (!is_set(has_xgetbv)) return 0;
    uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

// Asks for the registers that the operating system gives only to processes that ask; returns whether it does.
bool are_granted(uint32_t registers) {
    constexpr long tile_data = 18;  // The number of the bit.
    if ((registers >> tile_data & 1u) == 0) return true;
#if defined(__linux__)
    constexpr long request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM, since Linux 5.16.
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
    return false;
#endif
}

#else

bool is_set(const CpuidBit&) {
    return false;
}

uint32_t saved_registers() {
    return 0;
}

bool are_granted(uint32_t) {
    return true;
}

#endif

#if defined(__aarch64__) && defined(__APPLE__)
// `bit` if the system names the feature, 0 otherwise.
uint64_t bit_of(const char* feature, uint64_t bit) {
    int present = 0;
    size_t size = sizeof(present);
    sysctlbyname(feature, &present, &size, nullptr, 0);
    return present != 0 ? bit : 0;
}
#endif

// Those that CpuRequirements names; elsewhere than on Linux, the same bits for what kernels use.
struct HardwareCapabilities {
    uint64_t words[2];
};
HardwareCapabilities hardware_capabilities() {
#if defined(__aarch64__) && defined(__linux__)
    return {{getauxval(AT_HWCAP), getauxval(AT_HWCAP2)}};
#elif defined(__aarch64__) && defined(__APPLE__)
    // HWCAP_ASIMDDP and HWCAP2_I8MM.
    return {{bit_of("hw.optional.arm.FEAT_DotProd", 1 << 20), bit_of("hw.optional.arm.FEAT_I8MM", 1 << 13)}};
#else
    return {};
#endif
}

}  // namespace

bool offered(const CpuRequirements& requirements) {
    for (const CpuidBit& needed : requirements.cpuid) {
        if (needed.leaf != 0 && !is_set(needed)) return false;
    }
    const HardwareCapabilities present = hardware_capabilities();
    for (size_t word = 0; word < 2; ++word) {
        if ((requirements.hardware_capabilities[word] & ~present.words[word]) != 0) return false;
    }
    return (requirements.saved_registers & ~saved_registers()) == 0 && are_granted(requirements.saved_registers);
}

bool is_of_amd() {
#if defined(__x86_64__)
    uint32_t highest = 0, name[3] = {};
    if (!__get_cpuid(0, &highest, &name[0], &name[2], &name[1])) return false;
    return std::memcmp(name, "AuthenticAMD", sizeof(name)) == 0 || std::memcmp(name, "HygonGenuine", sizeof(name)) == 0;
#else
    return false;
#endif
}

size_t near_cache_bytes() {
    constexpr size_t small_cache = size_t{8} << 20;
#if defined(__linux__)
    constexpr size_t largest_cache = size_t{32} << 20;
    // Not by glibc's sysconf, which returns ten times the size on some virtual machines.
    if (std::FILE* file = std::fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r")) {
        size_t kibibytes = 0;
        const bool found = std::fscanf(file, "%zuK", &kibibytes) == 1;
        std::fclose(file);
        if (found && kibibytes > 0) return smaller(kibibytes << 10, largest_cache);
    }
#endif
    return small_cache;
}

}  // namespace pocketmt
