// Bit plane product with AVX2: four bits of a plane look up the sum of the four activations that they choose, for 32
// outputs at once ([B5], BiQGEMM, and T-MAC look up such sums too).
#include "bit_plane_product/nibble_product.h"
#include "integer_product/avx2_operations.h"
#include "tables.h"

namespace pocketmt::avx2 {
namespace {

constexpr size_t parts = panel_outputs / lanes;

POCKETMT_INLINE __m256i loaded(const uint8_t* bytes) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
}

// 255 in each entry in which the input is chosen, for both tables.
POCKETMT_INLINE __m256i choices(int input) {
    const __m256i entries =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    const __m256i bit = _mm256_set1_epi8(static_cast<char>(1 << input));
    return _mm256_cmpeq_epi8(_mm256_and_si256(entries, bit), bit);
}

// Sums of bytes of 32 outputs in 16 bits.
struct ByteSums {
    __m256i even = _mm256_setzero_si256();  // + 256 * odd, modulo 2^16
    __m256i odd = _mm256_setzero_si256();

    POCKETMT_INLINE void add(__m256i bytes) {
        even = _mm256_add_epi16(even, bytes);
        odd = _mm256_add_epi16(odd, _mm256_srli_epi16(bytes, 8));
    }
    // 8 neighbouring outputs in 32 bits each.
    POCKETMT_INLINE void widen(__m256i (&sums)[parts]) const {
        const __m256i alone = _mm256_sub_epi16(even, _mm256_slli_epi16(odd, 8));
        const __m256i first = _mm256_unpacklo_epi16(alone, odd), second = _mm256_unpackhi_epi16(alone, odd);
        sums[0] = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(first));
        sums[1] = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(second));
        sums[2] = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(first, 1));
        sums[3] = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(second, 1));
    }
};

// The sum of what the four indices of each output find in four tables of 16 bytes.
POCKETMT_INLINE __m256i looked_up(const uint8_t* tables, const __m256i (&indices)[step_nibbles]) {
    __m256i sum = _mm256_setzero_si256();
    unrolled<step_nibbles>([&](auto nibble) POCKETMT_INLINE_LAMBDA {
        const __m128i* place = reinterpret_cast<const __m128i*>(tables + nibble() * nibble_table_bytes);
        const __m256i table = _mm256_broadcastsi128_si256(_mm_load_si128(place));
        const __m256i found = _mm256_shuffle_epi8(table, indices[nibble()]);
        sum = nibble() == 0 ? found : _mm256_add_epi8(sum, found);
    });
    return sum;
}

// See NibbleProduct.
struct Lookups : Registers {
    static void fill_table(const int8_t* codes, uint8_t* table) {
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
        _mm256_store_si256(reinterpret_cast<__m256i*>(table), sums);
    }

    template <size_t rows>
    POCKETMT_INLINE static void sum_steps(const uint8_t* plane, size_t steps, const uint8_t* tables, size_t row_bytes,
                                          __m256i (&sums)[rows][parts]) {
        ByteSums low[rows], high[rows];
        const __m256i mask = _mm256_set1_epi8(15);
        for (size_t step = 0; step < steps; ++step, plane += plane_step_bytes, tables += step_table_bytes) {
            __m256i indices[step_nibbles];
            unrolled<2>([&](auto byte) POCKETMT_INLINE_LAMBDA {
                const __m256i bits = loaded(plane + byte() * panel_outputs);
                indices[byte() * 2] = _mm256_and_si256(bits, mask);
                indices[byte() * 2 + 1] = _mm256_and_si256(_mm256_srli_epi16(bits, 4), mask);
            });
            unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                low[row()].add(looked_up(tables + row() * row_bytes, indices));
                high[row()].add(looked_up(tables + row() * row_bytes + nibble_table_bytes / 2, indices));
            });
        }
        const __m256i offset = _mm256_set1_epi32(static_cast<int>(steps * step_nibbles) * high_offset);
        unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
            __m256i low_sums[parts], high_sums[parts];
            low[row()].widen(low_sums);
            high[row()].widen(high_sums);
            unrolled<parts>([&](auto part) POCKETMT_INLINE_LAMBDA {
                const __m256i high_sum =
                    _mm256_mullo_epi32(_mm256_sub_epi32(high_sums[part()], offset), _mm256_set1_epi32(high_factor));
                const __m256i sum = _mm256_add_epi32(low_sums[part()], high_sum);
                sums[row()][part()] = _mm256_add_epi32(sums[row()][part()], sum);
            });
        });
    }

    template <size_t rows>
    static void sum_rows(const QuantizedActivations& activations, size_t first_row, size_t columns,
                         int32_t (&sums)[rows]) {
        pocketmt::sum_rows(activations, first_row, columns, sums);
    }
};

}  // namespace

const BitPlaneProduct bit_plane_product = {PlanePanels::packed_bytes, PlanePanels::pack, PlanePanels::unpack_row,
                                           PlanePanels::gather, NibbleProduct<Lookups>::multiply};

}  // namespace pocketmt::avx2
