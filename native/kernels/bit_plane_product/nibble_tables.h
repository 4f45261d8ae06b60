// Tables of partial sums of activations, for AVX2, whose shuffles look up bytes.
#pragma once

#include <new>

#include "bit_plane_product/panels.h"
#include "intrinsics.h"
#include "kernels.h"

namespace pocketmt {
namespace {

constexpr size_t nibble_inputs = 4;
constexpr size_t step_nibbles = plane_step_inputs / nibble_inputs;
constexpr size_t nibble_table_bytes = 32;
constexpr size_t step_table_bytes = step_nibbles * nibble_table_bytes;
constexpr int high_factor = 16;
// What is added to each sum of high parts, so that none is negative.
constexpr int high_offset = 32;

// For each group of 4 activations of some rows, the sums over its 16 subsets, entry e over those whose bit is set in e.
// An activation is low + 16 * high, low from 0 to 15 and high from -8 to 7: a table is 16 bytes of sums of low parts,
// at most 60, then 16 of sums of high parts + high_offset, at most 60 as well. Four of either fit a byte.
class NibbleTables {
  public:
    NibbleTables(size_t steps, size_t rows)
        : row_bytes_(steps * step_table_bytes),
          tables_(rows * row_bytes_ <= stack_bytes ? own_ : new_bytes(rows * row_bytes_)) {}
    ~NibbleTables() {
        if (tables_ != own_) ::operator delete(tables_, std::align_val_t(nibble_table_bytes));
    }
    NibbleTables(const NibbleTables&) = delete;
    NibbleTables& operator=(const NibbleTables&) = delete;

    const uint8_t* data() const { return tables_; }

    // codes: padded with zeros to whole steps.
    void fill(size_t row, const int8_t* codes) {
        uint8_t* table = tables_ + row * row_bytes_;
        for (const uint8_t* end = table + row_bytes_; table < end; table += nibble_table_bytes, codes += nibble_inputs)
            _mm256_store_si256(reinterpret_cast<__m256i*>(table), sums_of_subsets(codes));
    }

  private:
    static constexpr size_t stack_bytes = 16384;

    static uint8_t* new_bytes(size_t count) {
        return static_cast<uint8_t*>(::operator new(count, std::align_val_t(nibble_table_bytes)));
    }

    // 255 in each entry in which the input is chosen, for both tables.
    POCKETMT_INLINE static __m256i choices(int input) {
        const __m256i entries =
            _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
        const __m256i bit = _mm256_set1_epi8(static_cast<char>(1 << input));
        return _mm256_cmpeq_epi8(_mm256_and_si256(entries, bit), bit);
    }
    POCKETMT_INLINE static __m256i sums_of_subsets(const int8_t* codes) {
        int32_t four;
        __builtin_memcpy(&four, codes, sizeof four);
        const __m256i all = _mm256_set1_epi32(four);
        const __m256i nibble = _mm256_set1_epi8(15), sign = _mm256_set1_epi8(8);
        const __m256i low = _mm256_and_si256(all, nibble);
        const __m256i high =
            _mm256_sub_epi8(_mm256_xor_si256(_mm256_and_si256(_mm256_srli_epi16(all, 4), nibble), sign), sign);
        const __m256i both = _mm256_blend_epi32(low, high, 0xf0);
        __m256i sums = _mm256_inserti128_si256(_mm256_setzero_si256(), _mm_set1_epi8(high_offset), 1);
        unrolled<nibble_inputs>([&](auto input) POCKETMT_INLINE_LAMBDA {
            const __m256i one = _mm256_shuffle_epi8(both, _mm256_set1_epi8(input()));
            sums = _mm256_add_epi8(sums, _mm256_and_si256(one, choices(input())));
        });
        return sums;
    }

    size_t row_bytes_;
    alignas(nibble_table_bytes) uint8_t own_[stack_bytes];
    uint8_t* tables_;
};

}  // namespace
}  // namespace pocketmt
