// Register tile of the products with exact 32-bit sums: rows of activations by panels of 32 outputs.
#pragma once

#include "integer_product/call.h"
#include "integer_product/row_pairs.h"

namespace pocketmt {
namespace {

constexpr size_t parts = panel_outputs / Registers::lanes;
constexpr size_t part_bytes = Registers::lanes * group_inputs;
// Parts whose sums a tile of `rows` holds at once: all of a panel, or half of it where the registers are few.
template <size_t rows, class Weights>
constexpr size_t tile_parts =
    rows <= (Weights::decoded ? Registers::whole_decoded_panel_rows : Registers::whole_panel_rows) ? parts : parts / 2;

// How far ahead of the product weights are asked for. Few rows read weights in their order, which most processors read
// ahead by themselves; they only need the next step early. More rows come back to a panel after other tiles. Registers
// that multiply fast ask earlier for the weights of a large matrix, because other matrices have displaced it from the
// second-level cache.
constexpr size_t sequential_rows = 4;
constexpr size_t large_matrix = 256 * 1024;  // Bytes.
template <class Weights, size_t rows>
POCKETMT_INLINE size_t read_ahead(const IntegerCall& call) {
    if constexpr (Registers::reads_far_ahead) {
        if (panel_count(call.rows) * call.panel_bytes >= large_matrix) return far_ahead;
    }
    return rows <= sequential_rows ? larger(Weights::read_ahead, call.few_rows_ahead) : page;
}

// Asks for the next panel, to be kept in the second-level cache. Processors do not read ahead while several tiles of
// rows take turns at a panel.
template <size_t bytes>
POCKETMT_INLINE void prefetch_panel(const IntegerCall& call, const uint8_t* weights) {
    unrolled<ceil_divide(bytes, cache_line)>([&](auto index) POCKETMT_INLINE_LAMBDA {
        __builtin_prefetch(weights + call.panel_bytes + index() * cache_line, 0, 2);
    });
}

// Asks for weights before a tile reads them: for those of its next steps if it holds whole panels, and else for those
// of the next panel.
template <size_t rows, class Weights, size_t first_part>
struct UsualAhead {
    size_t distance;

    explicit UsualAhead(const IntegerCall& call) : distance(read_ahead<Weights, rows>(call)) {}
    POCKETMT_INLINE void operator()(const IntegerCall& call, const uint8_t* step) const {
        constexpr size_t held = tile_parts<rows, Weights>, bytes = Weights::step_bytes;
        if constexpr (held == parts) {
            prefetch<bytes, 0>(step + distance);
        } else {
            prefetch_panel<bytes * held / parts>(call, step + first_part * bytes / parts);
        }
    }
};

// Computes parts of `streams` panels at once: of `panel`, whose weights are given, and of those `apart` and more panels
// on.
template <size_t rows, class Weights, size_t first_part, size_t streams, class Ahead>
POCKETMT_INLINE void multiply_parts(const IntegerCall& call, const TileRange& range, size_t panel,
                                    const uint8_t* weights, size_t apart, Ahead ask_ahead) {
    using Products = typename Weights::Products;
    constexpr size_t chains = rows <= Registers::two_chain_rows ? 2 : 1;
    constexpr size_t held = tile_parts<rows, Weights>;
    // Half a panel is loaded at once: GCC 12 keeps sums in memory otherwise, with AVX-VNNI.
    constexpr size_t at_once = held < parts ? held : smaller(ceil_divide(Registers::parts_at_once, streams), held);
    const Weights source(call);
    const size_t stride = call.activations.stride * input_bytes<Products>;
    const auto output = [&](size_t stream, size_t part) {
        return (panel + stream * apart) * panel_outputs + (first_part + part) * Registers::lanes;
    };
    Registers::Integers sums[streams][chains][rows][held] = {};
    for_rows<rows>(range, [&](auto row) POCKETMT_INLINE_LAMBDA {
        unrolled<streams * held>([&](auto index) POCKETMT_INLINE_LAMBDA {
            constexpr size_t stream = index() / held, part = index() % held;
            sums[stream][0][row()][part] = first_sums<Products>(call, output(stream, part), range.first_row + row());
        });
    });
    constexpr size_t input_step = step_inputs * input_bytes<Products>;
    const int8_t* codes = inputs_of<Products>(call, range.first_row);
    for (size_t step = 0; step < call.steps; ++step, weights += Weights::step_bytes, codes += input_step) {
        const auto of_stream = [&](size_t stream) { return weights + stream * apart * call.panel_bytes; };
        unrolled<streams>([&](auto stream) POCKETMT_INLINE_LAMBDA { ask_ahead(call, of_stream(stream())); });
        Registers::Step inputs[rows];
        for_rows<rows>(range, [&](auto row) POCKETMT_INLINE_LAMBDA {
            inputs[row()] = Registers::load_step(codes + row() * stride);
        });
        unrolled<streams * 2 * held / at_once>([&](auto index) POCKETMT_INLINE_LAMBDA {
            constexpr size_t stream = index() % streams, first = index() / streams * at_once;
            constexpr size_t group = first / held, next_part = first % held;
            Products loaded[at_once];
            unrolled<at_once>([&](auto part) POCKETMT_INLINE_LAMBDA {
                loaded[part()] = source.template load<group, first_part + next_part + part()>(of_stream(stream));
            });
            for_rows<rows>(range, [&](auto row) POCKETMT_INLINE_LAMBDA {
                const auto four = inputs_at<Products, group>(inputs[row()]);
                unrolled<at_once>([&](auto part) POCKETMT_INLINE_LAMBDA {
                    loaded[part()].add(sums[stream][group % chains][row()][next_part + part()], four);
                });
            });
        });
    }
    unrolled<streams * held>([&](auto index) POCKETMT_INLINE_LAMBDA {
        constexpr size_t stream = index() / held, part = index() % held;
        store_sums<rows>(call, range, output(stream, part), [&](auto row) POCKETMT_INLINE_LAMBDA {
            Registers::Integers sum = sums[stream][0][row()][part];
            if constexpr (chains == 2) sum += sums[stream][1][row()][part];
            return sum;
        });
    });
}

// Weights: where the weights of a step come from, made of an IntegerCall, with
//   Products                     what the registers multiply by: SignedWeights or one of the other types of weights
//   step_bytes                   bytes of a step
//   read_ahead                   how far ahead few rows ask for weights, in bytes
//   decoded                      whether `load` decodes weights of fewer than 8 bits, which takes registers
//   load<group, part>(step)      the weights of a group of inputs and of the outputs of one register
template <size_t rows, class Weights>
void multiply_tile(const IntegerCall& call, const TileRange& range) {
    const uint8_t* weights = range.weights;
    size_t panel = range.first_panel;
    if constexpr (rows <= Registers::two_stream_rows) {
        const size_t half = (range.last_panel - panel) / 2;
        for (const size_t end = panel + half; panel < end; ++panel, weights += call.panel_bytes)
            multiply_parts<rows, Weights, 0, 2>(call, range, panel, weights, half, UsualAhead<rows, Weights, 0>(call));
        panel += half;
        weights += half * call.panel_bytes;
    }
    for (; panel < range.last_panel; ++panel, weights += call.panel_bytes) {
        if constexpr (in_pairs<Registers, rows>) {
            unrolled<parts / pair_parts<rows>>([&](auto index) POCKETMT_INLINE_LAMBDA {
                multiply_pairs<Registers, rows, Weights, index() * pair_parts<rows>>(call, range, panel, weights);
            });
        } else {
            constexpr size_t held = tile_parts<rows, Weights>;
            unrolled<parts / held>([&](auto index) POCKETMT_INLINE_LAMBDA {
                constexpr size_t first_part = index() * held;
                multiply_parts<rows, Weights, first_part, 1>(call, range, panel, weights, 0,
                                                             UsualAhead<rows, Weights, first_part>(call));
            });
        }
    }
}

template <class Weights>
constexpr auto tiles =
    integer_tiles<Registers::integer_rows>([](auto rows) -> TileFunction { return multiply_tile<rows(), Weights>; });
// Those of weights from -127 to 127. Weights<Products>: as above.
template <template <class> class Weights>
constexpr auto symmetric_tiles = integer_tiles<Registers::integer_rows>([](auto rows) -> TileFunction {
    if constexpr (rows() <= Registers::whole_panel_rows) return multiply_tile<rows(), Weights<FewRowWeights>>;
    return multiply_tile<rows(), Weights<Registers::SignedWeights>>;
});

}  // namespace
}  // namespace pocketmt
