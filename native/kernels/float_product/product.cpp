// The product of fp32 weights, in tiles of several rows of activations by one panel of outputs.
#include "epilogue.h"
#include "float_product/call.h"
#include "float_product/panels.h"
#include "instruction_set.h"
#include "integer_product/prefetch.h"
#include "registers.h"

namespace pocketmt {
namespace {

constexpr size_t width = Registers::float_outputs;
constexpr size_t lanes = Registers::lanes;
constexpr size_t parts = width / lanes;
using Panels = FloatPanels<width>;

// Computes `streams` panels at once: that of `output`, whose weights are given, and those `apart` and more outputs on.
template <size_t rows, size_t streams>
POCKETMT_INLINE void multiply_panel(const FloatCall& call, const FloatTileRange& range, size_t output,
                                    const float* weights, size_t apart) {
    const size_t stride = call.activation_stride;
    Registers::Floats sums[rows][streams * parts] = {};
    const float* activations = call.activations + range.first_row * stride;
    for (size_t column = 0; column < call.columns; ++column, weights += width) {
        // Processors read ahead by themselves for one row, which reads weights in their order.
        if constexpr (Registers::reads_far_ahead && rows > 1) {
            prefetch<width * sizeof(float), far_ahead>(weights);
        }
        unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
            const auto activation = Registers::broadcast(activations[row() * stride + column]);
            unrolled<streams * parts>([&](auto part) POCKETMT_INLINE_LAMBDA {
                const float* of_part = weights + part() / parts * apart * call.columns + part() % parts * lanes;
                auto& sum = sums[row()][part()];
                sum = Registers::multiply_add(activation, Registers::load(of_part), sum);
            });
        });
    }
    unrolled<streams * parts>([&](auto part) POCKETMT_INLINE_LAMBDA {
        const OutputLanes given(call.epilogue, call.outputs, call.rows, range.first_row,
                                output + part() / parts * apart + part() % parts * lanes);
        const auto store = [&](auto all) POCKETMT_INLINE_LAMBDA {
            unrolled<rows>([&](auto row)
                               POCKETMT_INLINE_LAMBDA { given.template store<all()>(row(), sums[row()][part()]); });
        };
        if (given.all_valid()) return store(Constant<1>{});
        if (given.valid > 0) store(Constant<0>{});
    });
}

template <size_t rows>
void multiply_tile(const FloatCall& call, const FloatTileRange& range) {
    const float* weights = range.weights;
    size_t output = range.first_output;
    if constexpr (rows <= Registers::two_stream_rows) {
        const size_t half = ceil_divide(range.last_output - output, width) / 2 * width;
        for (const size_t end = output + half; output < end; output += width, weights += call.columns * width)
            multiply_panel<rows, 2>(call, range, output, weights, half);
        output += half;
        weights += half * call.columns;
    }
    for (; output < range.last_output; output += width, weights += call.columns * width)
        multiply_panel<rows, 1>(call, range, output, weights, 0);
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
