// fp32 product with AVX2 and FMA: tiles of up to 3 rows by 32 outputs, 12 sums in registers.
#include "avx2_registers.h"
#include "float_product/tile.h"
#include "tables.h"

namespace pocketmt::avx2 {
namespace {

struct Shape {
    static constexpr size_t width = 32;
    static constexpr size_t highest_tile = 3;
};

}  // namespace

const FloatProduct float_product = tiled_float_product<Registers, Shape>;

}  // namespace pocketmt::avx2
