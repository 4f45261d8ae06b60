// fp32 product with AVX-512: tiles of up to 6 rows by 64 outputs, 24 sums in registers.
#include "avx512_registers.h"
#include "float_product/tile.h"
#include "tables.h"

namespace pocketmt::avx512_vnni {
namespace {

struct Shape {
    static constexpr size_t width = 64;
    static constexpr size_t highest_tile = 6;
};

}  // namespace

const FloatProduct float_product = tiled_float_product<Registers, Shape>;

}  // namespace pocketmt::avx512_vnni
