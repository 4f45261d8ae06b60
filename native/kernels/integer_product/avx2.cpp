// 8-bit product with AVX2.
#include "integer_product/avx2_tile.h"
#include "tables.h"

namespace pocketmt::avx2 {
namespace {

void multiply(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations, size_t count,
              const Epilogue& epilogue, float* out, size_t out_stride) {
    const size_t panel_bytes = step_count(columns) * ByteWeights::step_bytes;
    const uint8_t* weights = static_cast<const uint8_t*>(packed);
    const float* scales = reinterpret_cast<const float*>(weights + panel_count(rows) * panel_bytes);
    const IntegerCall call{rows, step_count(columns), panel_bytes, nullptr, scales, activations, nullptr, epilogue,
                           out,  out_stride};
    multiply_panels(call, weights, count, tiles<ByteWeights>);
}

}  // namespace

const IntegerProduct integer_product = {BytePanels<0>::packed_bytes, BytePanels<0>::pack, BytePanels<0>::unpack_row,
                                        multiply};

}  // namespace pocketmt::avx2
