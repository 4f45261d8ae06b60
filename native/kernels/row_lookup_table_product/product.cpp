// The product of 4-bit codes with a table of levels for each row: rows of activations by parts of four registers of
// outputs.
#include "instruction_set.h"
#include "integer_product/row_pairs.h"
#include "row_lookup_table_product/panels.h"

namespace pocketmt {
namespace {

using Weights = FewRowWeights;
constexpr size_t lanes = Registers::bytes / lane_bytes;
constexpr size_t outputs_of_part = part_registers * lanes;
constexpr size_t part_bytes = part_registers * Registers::bytes;
using Panels = RowLookupTablePanels<lanes>;

POCKETMT_INLINE auto inputs_at(const int8_t* codes) {
    return prepared<Weights>(Registers::sixteen_inputs(codes));
}

// The tables of a part.
struct Tables {
    Registers::Bytes registers[part_registers];
};
POCKETMT_INLINE Tables load_tables(const uint8_t* bytes) {
    Tables tables;
    unrolled<part_registers>([&](auto index) POCKETMT_INLINE_LAMBDA {
        tables.registers[index()] =
            Registers::load(bytes + index() * Registers::bytes) + static_cast<uint8_t>(Weights::zero);
    });
    return tables;
}
// The weights of the first or second 16 inputs of a step.
template <size_t half>
POCKETMT_INLINE Weights looked_up(Registers::Bytes table, const uint8_t* codes) {
    return Weights(Registers::look_up(table, Registers::nibbles<half>(Registers::load(codes))));
}

// Adds the products of 16 inputs of each output, of pairs of rows. Set: as in row_pairs.h.
template <class Set, size_t rows, size_t pairs>
POCKETMT_INLINE void add_pairs(const Weights (&weights)[part_registers], const int8_t* codes, size_t stride,
                               typename Set::PairSums (&sums)[pairs]) {
    unrolled<2>([&](auto half) POCKETMT_INLINE_LAMBDA {
        const auto both = Set::PairWeights::template of_outputs<half()>(weights);
        unrolled<pairs>([&](auto pair) POCKETMT_INLINE_LAMBDA {
            constexpr size_t first = 2 * pair(), second = smaller(first + 1, rows - 1);
            const int8_t* inputs = codes + half() * lane_bytes / 2;
            sums[pair()].add(Set::load_pair(inputs + first * stride, inputs + second * stride), both);
        });
    });
}

// As multiply_tile, of pairs of rows.
template <class Set, size_t rows>
void multiply_pair_tile(const IntegerCall& call, const TileRange& range) {
    static_assert(Set::bytes == lane_bytes && Set::SignedWeights::zero == 0,
                  "a register has one output, and no offset");
    const size_t stride = call.activations.stride;
    const uint8_t* bytes = range.weights;
    for (size_t output = range.first_panel * panel_outputs; output < range.last_panel * panel_outputs;
         output += outputs_of_part) {
        const Tables tables = load_tables(bytes);
        bytes += part_bytes;
        typename Set::PairSums sums[ceil_divide(rows, 2)] = {};
        const int8_t* codes = call.activations.codes + range.first_row * stride;
        for (size_t step = 0; step < call.steps; ++step, bytes += part_bytes, codes += lane_inputs) {
            prefetch<part_bytes>(bytes);
            unrolled<2>([&](auto half) POCKETMT_INLINE_LAMBDA {
                Weights weights[part_registers];
                unrolled<part_registers>([&](auto index) POCKETMT_INLINE_LAMBDA {
                    weights[index()] = looked_up<half()>(tables.registers[index()], bytes + index() * Registers::bytes);
                });
                add_pairs<Set, rows>(weights, codes + half() * lane_bytes, stride, sums);
            });
        }
        store_sums<rows>(call, range, output,
                         [&](auto row) POCKETMT_INLINE_LAMBDA { return sums[row() / 2].template of_row<row() % 2>(); });
    }
}

template <size_t rows>
void multiply_tile(const IntegerCall& call, const TileRange& range) {
    constexpr size_t chains = rows == 1 ? 2 : 1;  // One for each half of a step hides the instruction's latency.
    const size_t stride = call.activations.stride;
    const uint8_t* bytes = range.weights;
    for (size_t output = range.first_panel * panel_outputs; output < range.last_panel * panel_outputs;
         output += outputs_of_part) {
        const Tables tables = load_tables(bytes);
        bytes += part_bytes;
        Registers::Integers sums[chains][rows][part_registers] = {};
        const int8_t* codes = call.activations.codes + range.first_row * stride;
        for (size_t step = 0; step < call.steps; ++step, bytes += part_bytes, codes += lane_inputs) {
            prefetch<part_bytes>(bytes);
            unrolled<2>([&](auto half) POCKETMT_INLINE_LAMBDA {
                decltype(inputs_at(codes)) inputs[rows];
                for_rows<rows>(range, [&](auto row) POCKETMT_INLINE_LAMBDA {
                    inputs[row()] = inputs_at(codes + row() * stride + half() * lane_bytes);
                });
                unrolled<part_registers>([&](auto index) POCKETMT_INLINE_LAMBDA {
                    const Weights weights =
                        looked_up<half()>(tables.registers[index()], bytes + index() * Registers::bytes);
                    for_rows<rows>(range, [&](auto row) POCKETMT_INLINE_LAMBDA {
                        weights.add(sums[half() % chains][row()][index()], inputs[row()]);
                    });
                });
            });
        }
        store_sums<rows>(call, range, output, [&](auto row) POCKETMT_INLINE_LAMBDA {
            Registers::Integers sum = Registers::add_up(sums[0][row()]);
            if constexpr (chains == 2) sum += Registers::add_up(sums[1][row()]);
            return sum + Weights::first_sums(call.negative_sums, output, call.activation_sums[range.first_row + row()]);
        });
    }
}

// Tiles of fewer rows take fewer instructions row by row, because pairs need their weights in another order.
constexpr size_t fewest_paired_rows = 5;

constexpr auto tiles = integer_tiles<Registers::row_lookup_rows>([](auto rows) -> TileFunction {
    if constexpr (in_pairs<Registers, rows()> && rows() >= fewest_paired_rows)
        return multiply_pair_tile<Registers, rows()>;
    return multiply_tile<rows()>;
});

void multiply(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue, const Outputs& outputs) {
    const RowLookupTableParts block = row_lookup_table_parts(matrix.shape);
    const IntegerCall call = integer_call(static_cast<const uint8_t*>(matrix.data), nullptr, block.steps,
                                          block.panel_bytes, matrix.shape, input, epilogue, outputs);
    multiply_blocks(call, input.count, Weights::zero != 0,
                    [](const IntegerCall& block, size_t rows) { multiply_panels(block, rows, tiles); });
}

}  // namespace

namespace POCKETMT_INSTRUCTION_SET {

constinit const Product row_lookup_table_product = {.name = "row lookup table product",
                                                    .packed_bytes = Panels::packed_bytes,
                                                    .pack = Panels::pack,
                                                    .unpack_row = Panels::unpack_row,
                                                    .gather = Panels::gather,
                                                    .multiply = multiply};

}  // namespace POCKETMT_INSTRUCTION_SET
}  // namespace pocketmt
