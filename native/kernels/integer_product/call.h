// The arguments of a product with exact 32-bit sums, and the order in which tiles compute it.
#pragma once

#include "epilogue.h"
#include "integer_product/panels.h"
#include "integer_product/prefetch.h"
#include "product.h"
#include "registers.h"

namespace pocketmt {
namespace {

struct IntegerCall {
    const uint8_t* weights;  // [panels][steps] in the layout of the family.
    size_t rows;             // Number of outputs.
    size_t columns;
    size_t steps;           // Steps of a panel.
    size_t panel_bytes;     // From one panel to the next.
    size_t few_rows_ahead;  // How far ahead tiles of few rows ask for weights at least, in bytes.
    const uint8_t* levels;  // The levels of a lookup table; null in other families.
    const float* weight_scales;
    const int32_t* negative_sums;  // [panels * 32]; see panels.h.
    QuantizedActivations activations;
    const int32_t* activation_sums;  // [count]: sum of each row's codes, or 0 if it is not needed.
    const int8_t* prepared_inputs;   // Prepared activations and their sums, or null; see prepared_inputs.h.
    const int32_t* prepared_sums;
    Epilogue epilogue;
    Outputs outputs;
};

// A type that is named only where registers have it.
template <class Set>
struct FewRows {
    using Weights = typename Set::SignedWeights;
};
template <class Set>
    requires requires { typename Set::SymmetricWeights; }
struct FewRows<Set> {
    using Weights = typename Set::SymmetricWeights;
};
// Weights from -127 to 127 that are multiplied by few rows.
using FewRowWeights = FewRows<Registers>::Weights;

// Inputs in the form that Products::add takes.
template <class Products, class Inputs>
POCKETMT_INLINE auto prepared(Inputs inputs) {
    if constexpr (requires { Products::prepared(inputs); }) {
        return Products::prepared(inputs);
    } else {
        return inputs;
    }
}

// Whether Products read activations that were prepared (prepared_inputs.h), and the bytes of an activation.
template <class Products>
constexpr bool prepares_inputs = requires { Products::prepared_bytes; };
template <class Products>
constexpr size_t input_bytes = 1;
template <class Products>
    requires prepares_inputs<Products>
constexpr size_t input_bytes<Products> = Products::prepared_bytes;

// The activations of a row, as Products read them.
template <class Products>
POCKETMT_INLINE const int8_t* inputs_of(const IntegerCall& call, size_t row) {
    const int8_t* inputs = prepares_inputs<Products> ? call.prepared_inputs : call.activations.codes;
    return inputs + row * call.activations.stride * input_bytes<Products>;
}

// Four activations of a step, in the form that Products::add takes.
template <class Products, size_t group>
POCKETMT_INLINE auto inputs_at(Registers::Step step) {
    if constexpr (prepares_inputs<Products>) {
        return Products::template load_prepared<group>(step);
    } else {
        return prepared<Products>(Registers::template group_inputs<group>(step));
    }
}

// The first sums of a row.
template <class Products>
POCKETMT_INLINE Registers::Integers first_sums(const IntegerCall& call, size_t output, size_t row) {
    const int32_t* sums = prepares_inputs<Products> ? call.prepared_sums : call.activation_sums;
    return Products::first_sums(call.negative_sums, output, sums[row]);
}

// The call of a product whose scales follow its packed weights.
inline IntegerCall integer_call(const uint8_t* weights, const uint8_t* levels, size_t steps, size_t panel_bytes,
                                const MatrixShape& shape, const ProductInput& input, const Epilogue& epilogue,
                                const Outputs& outputs) {
    const size_t panels = panel_count(shape.rows);
    const float* scales = reinterpret_cast<const float*>(weights + panels * panel_bytes);
    const int32_t* negative_sums = reinterpret_cast<const int32_t*>(scales + panels * panel_outputs);
    const size_t ahead = Registers::few_rows_read_a_page_ahead() ? page : 0;
    return {weights,       shape.rows,      shape.columns, steps,   panel_bytes, ahead,    levels, scales,
            negative_sums, input.quantized, nullptr,       nullptr, nullptr,     epilogue, outputs};
}

// The rows and panels that a tile function multiplies.
struct TileRange {
    const uint8_t* weights;  // The first panel.
    size_t first_row;        // Of the activations.
    size_t rows;
    size_t first_panel;
    size_t last_panel;  // One beyond the last.
};

using TileFunction = void (*)(const IntegerCall&, const TileRange&);

// The tile function choose(Constant<n>) of n = 1, ..., highest rows. Where rows are not unrolled, that of the highest
// tile serves for all heights but 1.
template <size_t highest, class Choose>
constexpr auto integer_tiles(Choose choose) {
    return tile_functions<highest>([&](auto rows) -> TileFunction {
        if constexpr (Registers::unrolls_rows || rows() == 1) return choose(rows);
        return choose(Constant<highest>{});
    });
}

struct Index {
    size_t value;
    constexpr size_t operator()() const { return value; }
};
// Calls body(row) for each row of a tile function for `rows` rows; row() is its index.
template <size_t rows, class Body>
POCKETMT_INLINE void for_rows(const TileRange& range, Body&& body) {
    if constexpr (Registers::unrolls_rows || rows == 1) {
        unrolled<rows>(body);
    } else {
        for (Index row{0}; row.value < range.rows; ++row.value) body(row);
    }
}

// Converts the sums of the rows of a range and of the outputs from `output` on to floats and stores them, in the
// operations of reference::multiply. sums(row): those of row row().
template <size_t rows, class Sums>
POCKETMT_INLINE void store_sums(const IntegerCall& call, const TileRange& range, size_t output, const Sums& sums) {
    const OutputLanes lanes(call.epilogue, call.outputs, call.rows, range.first_row, output);
    const auto weight_scales = Registers::load(call.weight_scales + output);
    store_quantized(
        lanes, call.activations.scales + range.first_row, call.activation_sums + range.first_row,
        [&](const auto& body) POCKETMT_INLINE_LAMBDA { for_rows<rows>(range, body); },
        [&](auto row, float activation_scale) POCKETMT_INLINE_LAMBDA {
            return Registers::to_floats(sums(row)) * (Registers::broadcast(activation_scale) * weight_scales);
        });
}

// Few rows make one tile, which reads all panels. More rows are computed a panel at a time, so that each panel is read
// from memory once.
template <size_t highest>
inline void multiply_panels(const IntegerCall& call, size_t count, const TileFunctions<TileFunction, highest>& tiles) {
    const size_t first = first_panel(call.outputs), last = last_panel(call.outputs, call.rows);
    const uint8_t* weights = call.weights + first * call.panel_bytes;
    if (count <= highest) return tiles.functions[count - 1](call, {weights, 0, count, first, last});
    for (size_t panel = first; panel < last; ++panel, weights += call.panel_bytes) {
        for_tiles<highest>(count, [&](size_t row, size_t height) {
            tiles.functions[height - 1](call, {weights, row, height, panel, panel + 1});
        });
    }
}

// Rows that stay in the second-level cache while every panel passes over them.
constexpr size_t block_rows = 240;

// Calls multiply(call, rows) for blocks of rows. It can read the sums of the activations if weights have a zero or
// there are offsets.
template <class Multiply>
inline void multiply_blocks(IntegerCall call, size_t count, bool weights_have_zero, Multiply&& multiply) {
    const bool sums_are_needed = weights_have_zero || call.epilogue.offsets != nullptr;
    int32_t sums[block_rows];
    call.activation_sums = sums;
    for (size_t first = 0; first < count; first += block_rows) {
        const size_t height = smaller(block_rows, count - first);
        for (size_t row = 0; row < height; ++row) {
            const int8_t* codes = call.activations.codes + row * call.activations.stride;
            sums[row] = sums_are_needed ? Registers::sum_codes(codes, call.columns) : 0;
        }
        multiply(call, height);
        call.activations.codes += height * call.activations.stride;
        call.activations.scales += height;
        call.outputs.values += height * call.outputs.stride;
    }
}

}  // namespace
}  // namespace pocketmt
