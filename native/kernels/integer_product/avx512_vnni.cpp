// 8-bit and 6-bit products with AVX-512 VNNI.
#include "integer_product/avx512_vnni_tile.h"
#include "integer_product/six_bit_panels.h"
#include "tables.h"

namespace pocketmt::avx512_vnni {
namespace {

// The low 4 bits of a code and the high 2, which come to bits 4 and 5.
struct SixBitWeights {
    static constexpr size_t step_bytes = six_bit_step_bytes;
    static constexpr int32_t zero = six_bit_zero;
    const __m512i low_mask = _mm512_set1_epi8(15);
    const __m512i high_mask = _mm512_set1_epi8(48);

    explicit SixBitWeights(const IntegerCall&) {}
    POCKETMT_INLINE void load(const uint8_t* step, __m512i (&weights)[4]) const {
        const __m512i first = _mm512_loadu_si512(step), second = _mm512_loadu_si512(step + 64);
        const __m512i high = _mm512_loadu_si512(step + six_bit_low_bytes);
        weights[0] = joined(first, _mm512_slli_epi16(high, 4));
        weights[1] = joined(second, _mm512_slli_epi16(high, 2));
        weights[2] = joined(_mm512_srli_epi16(first, 4), high);
        weights[3] = joined(_mm512_srli_epi16(second, 4), _mm512_srli_epi16(high, 2));
    }

  private:
    POCKETMT_INLINE __m512i joined(__m512i low, __m512i high) const {
        constexpr int either_low_or_masked_high = 0xf8;  // a | (b & c)
        return _mm512_ternarylogic_epi32(_mm512_and_si512(low, low_mask), high, high_mask, either_low_or_masked_high);
    }
};

template <class Weights>
void multiply(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations, size_t count,
              const Epilogue& epilogue, const Outputs& outputs) {
    const IntegerCall call = integer_call(static_cast<const uint8_t*>(packed), Weights::step_bytes, nullptr, rows,
                                          columns, activations, epilogue, outputs);
    for_row_blocks(call, columns, count,
                   [&](const IntegerCall& block, size_t height) { multiply_panels(block, height, tiles<Weights>); });
}

}  // namespace

const IntegerProduct integer_product = {BytePanels<128>::packed_bytes, BytePanels<128>::pack,
                                        BytePanels<128>::unpack_row, BytePanels<128>::gather, multiply<ByteWeights>};
const IntegerProduct six_bit_product = {SixBitPanels::packed_bytes, SixBitPanels::pack, SixBitPanels::unpack_row,
                                        SixBitPanels::gather, multiply<SixBitWeights>};

}  // namespace pocketmt::avx512_vnni
