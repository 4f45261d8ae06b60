// Bit plane product that looks up the sums of four activations at a time, written once on the registers and look-ups of
// an instruction set.
#pragma once

#include "bit_plane_product/nibble_tables.h"
#include "product_store.h"

namespace pocketmt {
namespace {

// So many steps have sums of at most 256 * 240, which 16 bits hold.
constexpr size_t exact_steps = 256;

// Lookups: registers with
//   fill_table(codes, table)                               see NibbleTables
//   sum_steps(plane, steps, tables, row_bytes, sums)       sums [rows][parts] += those of at most exact_steps steps;
//                                                          tables: of the first row, `row_bytes` apart
//   sum_rows(activations, first_row, columns, sums)        sums [rows]: of the codes of each row
template <class Lookups>
class NibbleProduct {
  public:
    static void multiply(const void* packed, size_t rows, size_t columns, size_t bits,
                         const QuantizedActivations& activations, size_t count, const Epilogue& epilogue,
                         const Outputs& outputs) {
        constexpr PlaneTile tiles[] = {multiply_tile<1>, multiply_tile<2>};  // more rows have too few registers
        const PlaneCall call = plane_call(packed, rows, columns, bits, activations, epilogue, outputs);
        multiply_by_tables<Lookups::fill_table>(call, count, tiles);
    }

  private:
    using Floats = typename Lookups::Floats;
    using Integers = typename Lookups::Integers;
    static constexpr size_t parts = panel_outputs / Lookups::lanes;

    template <size_t rows>
    POCKETMT_INLINE static void sum_plane(const PlaneCall& call, const uint8_t* plane, size_t first_row,
                                          Integers (&sums)[rows][parts]) {
        const size_t row_bytes = call.parts.steps * step_table_bytes;
        const uint8_t* tables = call.tables + first_row * row_bytes;
        for (size_t step = 0; step < call.parts.steps; step += exact_steps) {
            Lookups::sum_steps(plane + step * plane_step_bytes, smaller(exact_steps, call.parts.steps - step),
                               tables + step * step_table_bytes, row_bytes, sums);
        }
    }

    // The operations of reference::bit_plane_product.
    template <size_t rows>
    static void multiply_tile(const PlaneCall& call, const PlaneRange& range) {
        int32_t activation_sums[rows];
        Lookups::sum_rows(call.activations, range.first_row, call.parts.steps * plane_step_inputs, activation_sums);
        const float* activation_scales = call.activations.scales + range.first_row;
        for (size_t panel = range.first_panel; panel < range.last_panel; ++panel) {
            Floats values[rows][parts] = {};
            for (size_t bit = 0; bit < call.bits; ++bit) {
                const float* alphas = call.plane_alphas(panel, bit);
                Integers sums[rows][parts] = {};
                sum_plane(call, call.plane(panel, bit), range.first_row, sums);
                unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
                    constexpr size_t row = index() / parts, part = index() % parts;
                    const Floats scale =
                        Lookups::broadcast(activation_scales[row]) * Lookups::load(alphas + part * Lookups::lanes);
                    const Integers sum = Lookups::twice_less(sums[row][part], activation_sums[row]);
                    const Floats term = Lookups::to_floats(sum) * scale;
                    values[row][part] = bit == 0 ? term : values[row][part] + term;
                });
            }
            unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
                constexpr size_t row = index() / parts, part = index() % parts;
                store_quantized<Lookups>(call.epilogue, call.outputs, call.rows, range.first_row + row,
                                         panel * panel_outputs + part * Lookups::lanes, activation_sums[row],
                                         activation_scales[row], values[row][part]);
            });
        }
    }
};

}  // namespace
}  // namespace pocketmt
