// The features that an instruction set needs of the processor and the operating system, and the size of the cache.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pocketmt {

enum class CpuidRegister : uint8_t { eax, ebx, ecx, edx };

// One bit of what the instruction CPUID of x86 returns (Intel SDM, volume 2).
struct CpuidBit {
    uint32_t leaf;  // 0: no bit is needed.
    uint32_t subleaf;
    CpuidRegister place;
    uint8_t bit;
};

struct CpuRequirements {
    CpuidBit cpuid[10] = {};
    // Bits of XCR0 (Intel SDM, volume 1, section 13.3): registers that the operating system saves at a context switch.
    // Linux asks processes to request those of tiles first, and `offered` does so.
    uint32_t saved_registers = 0;
    // Bits of AT_HWCAP and of AT_HWCAP2, by which Linux on AArch64 describes the processor.
    uint64_t hardware_capabilities[2] = {};
};

// Whether this machine has all of them.
bool offered(const CpuRequirements& requirements);

// Bytes of the third-level cache, at most 32 MiB, because many cores share a larger one; 8 MiB if the system does not
// say.
size_t near_cache_bytes();

// Whether the processor is one of AMD, or of Hygon, which makes them by AMD's design.
bool is_of_amd();

}  // namespace pocketmt
