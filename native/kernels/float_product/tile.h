// Register tile of fp32 products, written once on the registers of each instruction set; and the whole product.
#pragma once

#include "float_product/call.h"
#include "product_store.h"

namespace pocketmt {
namespace {

// Tiles of up to Shape::highest_tile rows by Shape::width outputs.
template <class Registers, class Shape>
struct FloatTile {
    static constexpr size_t lanes = Registers::lanes;
    static constexpr size_t parts = Shape::width / lanes;

    template <size_t rows>
    struct OfRows {
        static void multiply(const FloatCall& call, const FloatTileRange& range) {
            const float* weights = range.weights;
            const size_t stride = call.activation_stride;
            for (size_t output = range.first_output; output < range.last_output; output += Shape::width) {
                typename Registers::Floats sums[rows][parts] = {};
                const float* activations = call.activations + range.first_row * stride;
                for (size_t column = 0; column < call.columns; ++column, weights += Shape::width) {
                    unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                        const auto activation = Registers::broadcast(activations[row() * stride + column]);
                        unrolled<parts>([&](auto part) POCKETMT_INLINE_LAMBDA {
                            auto& sum = sums[row()][part()];
                            sum = Registers::multiply_add(activation, Registers::load(weights + part() * lanes), sum);
                        });
                    });
                }
                unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
                    constexpr size_t row = index() / parts, part = index() % parts;
                    const size_t first = output + part * lanes;
                    if (first >= call.rows) return;
                    float* out = call.outputs.values + (range.first_row + row) * call.outputs.stride;
                    store_outputs<Registers>(call.epilogue, first, call.rows - first, sums[row][part],
                                             out + (first - call.outputs.first));
                });
            }
        }
    };

    static void multiply(const void* packed, size_t rows, size_t columns, const float* activations,
                         size_t activation_stride, size_t count, const Epilogue& epilogue, const Outputs& outputs) {
        const FloatCall call{rows, columns, activations, activation_stride, epilogue, outputs};
        multiply_panels<Shape::width, Shape::highest_tile, OfRows>(call, static_cast<const float*>(packed), count);
    }
};

template <class Registers, class Shape>
constexpr FloatProduct tiled_float_product = {FloatPanels<Shape::width>::packed_bytes, FloatPanels<Shape::width>::pack,
                                              FloatPanels<Shape::width>::unpack_row, FloatPanels<Shape::width>::gather,
                                              FloatTile<Registers, Shape>::multiply};

}  // namespace
}  // namespace pocketmt
