// 8-bit and 6-bit products with AVX2.
#include "integer_product/avx2_multiplication.h"
#include "integer_product/avx2_product.h"
#include "tables.h"

namespace pocketmt::avx2 {

const IntegerProduct integer_product = {BytePanels<0>::packed_bytes, BytePanels<0>::pack, BytePanels<0>::unpack_row,
                                        BytePanels<0>::gather, multiply_integers<ByteWeights<SignedWeights>>};
const IntegerProduct six_bit_product = {SixBitPanels::packed_bytes, SixBitPanels::pack, SixBitPanels::unpack_row,
                                        SixBitPanels::gather, multiply_integers<SixBitWeights<SixBitCodes>>};

}  // namespace pocketmt::avx2
