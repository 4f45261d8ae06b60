// The product of fp32 weights, in tiles of several rows of activations by one panel of outputs.
#include "epilogue.h"
#include "float_product/call.h"
#include "float_product/panels.h"
#include "instruction_set.h"
#include "registers.h"

namespace pocketmt {
namespace {

constexpr size_t width = Registers::float_outputs;
constexpr size_t lanes = Registers::lanes;
constexpr size_t parts = width / lanes;
using Panels = FloatPanels<width>;

template <size_t rows>
void multiply_tile(const FloatCall& call, const FloatTileRange& range) {
    const float* weights = range.weights;
    const size_t stride = call.activation_stride;
    for (size_t output = range.first_output; output < range.last_output; output += width) {
        Registers::Floats sums[rows][parts] = {};
        const float* activations = call.activations + range.first_row * stride;
        for (size_t column = 0; column < call.columns; ++column, weights += width) {
            unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                const auto activation = Registers::broadcast(activations[row() * stride + column]);
                unrolled<parts>([&](auto part) POCKETMT_INLINE_LAMBDA {
                    auto& sum = sums[row()][part()];
                    sum = Registers::multiply_add(activation, Registers::load(weights + part() * lanes), sum);
                });
            });
        }
        unrolled<parts>([&](auto part) POCKETMT_INLINE_LAMBDA {
            const OutputLanes given(call.epilogue, call.outputs, call.rows, range.first_row, output + part() * lanes);
            const auto store = [&](auto all) POCKETMT_INLINE_LAMBDA {
                unrolled<rows>([&](auto row)
                                   POCKETMT_INLINE_LAMBDA { given.template store<all()>(row(), sums[row()][part()]); });
            };
            if (given.all_valid()) return store(Constant<1>{});
            if (given.valid > 0) store(Constant<0>{});
        });
    }
}

constexpr auto tiles =
    tile_functions<Registers::float_rows>([](auto rows) -> FloatTileFunction { return multiply_tile<rows()>; });

void multiply(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue, const Outputs& outputs) {
    const FloatCall call{matrix.shape.rows, matrix.shape.columns, input.floats, input.float_stride, epilogue, outputs};
    multiply_panels<width>(call, static_cast<const float*>(matrix.data), input.count, tiles);
}

}  // namespace

namespace POCKETMT_INSTRUCTION_SET {

constinit const Product float_product = {.name = "fp32 product",
                                         .quantized_input = false,
                                         .packed_bytes = Panels::packed_bytes,
                                         .pack = Panels::pack,
                                         .unpack_row = Panels::unpack_row,
                                         .gather = Panels::gather,
                                         .multiply = multiply};

}  // namespace POCKETMT_INSTRUCTION_SET
}  // namespace pocketmt
