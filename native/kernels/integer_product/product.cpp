// The products of 8-bit and of 6-bit weights.
#include <type_traits>

#include "instruction_set.h"
#include "integer_product/non_negative.h"
#include "integer_product/prepared_inputs.h"
#include "integer_product/six_bit_weights.h"

namespace pocketmt {
namespace {

// 8-bit weights: a step is 2 groups of 4 inputs.
template <class Chosen>
struct ByteWeights {
    using Products = Chosen;
    static constexpr size_t step_bytes = 2 * group_bytes, read_ahead = step_bytes;
    static constexpr bool decoded = false;

    explicit ByteWeights(const IntegerCall&) {}
    template <size_t group, size_t part>
    POCKETMT_INLINE Products load(const uint8_t* step) const {
        const uint8_t* weights = step + group * group_bytes + part * part_bytes;
        if constexpr (std::is_constructible_v<Products, const uint8_t*>) {
            return Products(weights);
        } else {
            return Products(Registers::load(weights));
        }
    }
};

template <class Weights>
IntegerCall call_of(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                    const Outputs& outputs) {
    const size_t steps = step_count(matrix.shape.columns);
    return integer_call(static_cast<const uint8_t*>(matrix.data), nullptr, steps, steps * Weights::step_bytes,
                        matrix.shape, input, epilogue, outputs);
}

// fewest: as of multiply_rows.
template <class Weights, size_t fewest, class Tiles>
void multiply_by(const Tiles& tiles, const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                 const Outputs& outputs) {
    multiply_blocks(call_of<Weights>(matrix, input, epilogue, outputs), input.count, Weights::Products::zero != 0,
                    [&](const IntegerCall& block, size_t rows) { multiply_rows<Weights, fewest>(block, rows, tiles); });
}

// The same of 8-bit weights. Those for activations that are not negative need no preparation.
template <class Products, class Tiles>
void multiply_bytes_by(const Tiles& tiles, const PackedMatrix& matrix, const ProductInput& input,
                       const Epilogue& epilogue, const Outputs& outputs) {
    constexpr size_t fewest = Registers::expanding_rows;
    using Weights = ByteWeights<Products>;
    multiply_blocks(call_of<Weights>(matrix, input, epilogue, outputs), input.count, Products::zero != 0,
                    [&](const IntegerCall& block, size_t rows) {
                        if (!multiply_non_negative<Registers, ByteWeights, 0>(block, rows) &&
                            !multiply_prepared<Registers, ByteWeights, fewest>(block, rows))
                            multiply_rows<Weights, fewest>(block, rows, tiles);
                    });
}

using Panels = BytePanels<Registers::SignedWeights::zero>;

// How 8-bit weights are multiplied that may be -128.
template <class Set>
struct AnyWeightsOf {
    using Type = typename Set::SignedWeights;
};
template <class Set>
    requires requires { typename Set::AnyWeights; }
struct AnyWeightsOf<Set> {
    using Type = typename Set::AnyWeights;
};

// The product of weights from -64 to 63, where registers have one that is faster; returns whether they have.
template <class Set>
bool multiply_seven_bits(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                         const Outputs& outputs) {
    if constexpr (requires { typename Set::SevenBitWeights; }) {
        using Weights = ByteWeights<typename Set::SevenBitWeights>;
        multiply_by<Weights, 0>(tiles<Weights>, matrix, input, epilogue, outputs);
        return true;
    }
    return false;
}

void multiply_bytes(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                    const Outputs& outputs) {
    const WeightRange range = Panels::range(matrix);
    if (range == WeightRange::seven_bits && multiply_seven_bits<Registers>(matrix, input, epilogue, outputs)) return;
    if (range != WeightRange::any) {
        multiply_bytes_by<Registers::SignedWeights>(symmetric_tiles<ByteWeights>, matrix, input, epilogue, outputs);
    } else {
        using Any = AnyWeightsOf<Registers>::Type;
        multiply_bytes_by<Any>(tiles<ByteWeights<Any>>, matrix, input, epilogue, outputs);
    }
}

void multiply_six_bits(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                       const Outputs& outputs) {
    multiply_by<SixBitWeights, Registers::expanding_six_bit_rows>(tiles<SixBitWeights>, matrix, input, epilogue,
                                                                  outputs);
}

}  // namespace

namespace POCKETMT_INSTRUCTION_SET {

constinit const Product integer_product = {.name = "8-bit product",
                                           .packed_bytes = Panels::packed_bytes,
                                           .pack = Panels::pack,
                                           .unpack_row = Panels::unpack_row,
                                           .gather = Panels::gather,
                                           .multiply = multiply_bytes};
constinit const Product six_bit_product = {.name = "6-bit product",
                                           .packed_bytes = SixBitPanels::packed_bytes,
                                           .pack = SixBitPanels::pack,
                                           .unpack_row = SixBitPanels::unpack_row,
                                           .gather = SixBitPanels::gather,
                                           .multiply = multiply_six_bits};

}  // namespace POCKETMT_INSTRUCTION_SET
}  // namespace pocketmt
