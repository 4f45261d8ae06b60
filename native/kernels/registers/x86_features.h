// The bits by which x86 processors report their instruction sets, and the registers that an operating system must save.
#pragma once

#include "cpu.h"

namespace pocketmt {
namespace {

constexpr CpuidBit has_avx{1, 0, CpuidRegister::ecx, 28};
constexpr CpuidBit has_fma{1, 0, CpuidRegister::ecx, 12};
constexpr CpuidBit has_avx2{7, 0, CpuidRegister::ebx, 5};
[[maybe_unused]] constexpr CpuidBit has_avx_vnni{7, 1, CpuidRegister::eax, 4};
[[maybe_unused]] constexpr CpuidBit has_avx512f{7, 0, CpuidRegister::ebx, 16};
[[maybe_unused]] constexpr CpuidBit has_avx512dq{7, 0, CpuidRegister::ebx, 17};
[[maybe_unused]] constexpr CpuidBit has_avx512bw{7, 0, CpuidRegister::ebx, 30};
[[maybe_unused]] constexpr CpuidBit has_avx512vl{7, 0, CpuidRegister::ebx, 31};
[[maybe_unused]] constexpr CpuidBit has_avx512_vnni{7, 0, CpuidRegister::ecx, 11};
[[maybe_unused]] constexpr CpuidBit has_amx_tile{7, 0, CpuidRegister::edx, 24};
[[maybe_unused]] constexpr CpuidBit has_amx_int8{7, 0, CpuidRegister::edx, 25};

[[maybe_unused]] constexpr uint32_t saves_avx = 0x06;
[[maybe_unused]] constexpr uint32_t saves_avx512 = 0xe6;
[[maybe_unused]] constexpr uint32_t saves_amx = saves_avx512 | 0x60000;

}  // namespace
}  // namespace pocketmt
