// fp32 product with NEON: tiles of up to 3 rows by 32 outputs, 24 sums in registers.
#include "float_product/tile.h"
#include "neon_registers.h"
#include "tables.h"

namespace pocketmt::neon_dot_product {
namespace {

struct Shape {
    static constexpr size_t width = 32;
    static constexpr size_t highest_tile = 3;
};

}  // namespace

const FloatProduct float_product = tiled_float_product<Registers, Shape>;

}  // namespace pocketmt::neon_dot_product
