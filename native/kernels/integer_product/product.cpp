// The products of 8-bit and of 6-bit weights.
#include "instruction_set.h"
#include "integer_product/marked_panels.h"
#include "integer_product/six_bit_panels.h"
#include "integer_product/tile.h"

namespace pocketmt {
namespace {

// 8-bit weights: a step is 2 groups of 4 inputs.
template <class Weights>
struct ByteWeights {
    using Products = Weights;
    static constexpr size_t step_bytes = 2 * group_bytes;

    explicit ByteWeights(const IntegerCall&) {}
    template <size_t group, size_t part>
    POCKETMT_INLINE Products load(const uint8_t* step) const {
        return Products(Registers::load(step + group * group_bytes + part * part_bytes));
    }
};

// 6-bit weights: the low 4 bits of a code, and the high 2, which are shifted to bits 4 and 5.
struct SixBitWeights {
    using Products = Registers::SixBitWeights;
    static constexpr size_t step_bytes = six_bit_step_bytes;

    explicit SixBitWeights(const IntegerCall&) {}
    template <size_t group, size_t part>
    POCKETMT_INLINE Products load(const uint8_t* step) const {
        constexpr size_t high_parts = six_bit_high_bytes / part_bytes;
        constexpr int high_shift = static_cast<int>(group * 2 + part / high_parts) * 2;
        const auto low = Registers::nibbles<group>(Registers::load(step + part * part_bytes));
        const auto high = Registers::load(step + six_bit_low_bytes + part % high_parts * part_bytes);
        return Products(Registers::insert(low, Registers::shifted<4 - high_shift>(high), 48));
    }
};

template <class Weights>
void multiply(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue, const Outputs& outputs) {
    const size_t steps = step_count(matrix.shape.columns);
    const IntegerCall call = integer_call(static_cast<const uint8_t*>(matrix.data), nullptr, steps,
                                          steps * Weights::step_bytes, matrix.shape, input, epilogue, outputs);
    multiply_blocks(call, input.count, Weights::Products::zero != 0, tiles<Weights>);
}

// The product of 8-bit weights, where SignedWeights may be -128 or not.
template <class Set, bool multiplies_any = !requires { typename Set::AnyWeights; }>
struct ByteProduct {
    using Panels = BytePanels<Set::SignedWeights::zero>;
    static constexpr auto function = multiply<ByteWeights<typename Set::SignedWeights>>;
};
template <class Set>
struct ByteProduct<Set, false> {
    using Panels = MarkedPanels;
    static void function(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                         const Outputs& outputs) {
        if (Panels::marked(matrix))
            return multiply<ByteWeights<typename Set::AnyWeights>>(matrix, input, epilogue, outputs);
        multiply<ByteWeights<typename Set::SignedWeights>>(matrix, input, epilogue, outputs);
    }
};

using Panels = ByteProduct<Registers>::Panels;

}  // namespace

namespace POCKETMT_INSTRUCTION_SET {

constinit const Product integer_product = {.name = "8-bit product",
                                           .packed_bytes = Panels::packed_bytes,
                                           .pack = Panels::pack,
                                           .unpack_row = Panels::unpack_row,
                                           .gather = Panels::gather,
                                           .multiply = ByteProduct<Registers>::function};
constinit const Product six_bit_product = {.name = "6-bit product",
                                           .packed_bytes = SixBitPanels::packed_bytes,
                                           .pack = SixBitPanels::pack,
                                           .unpack_row = SixBitPanels::unpack_row,
                                           .gather = SixBitPanels::gather,
                                           .multiply = multiply<SixBitWeights>};

}  // namespace POCKETMT_INSTRUCTION_SET
}  // namespace pocketmt
