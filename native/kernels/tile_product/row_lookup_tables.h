// 4-bit codes with a table of levels for each row, as PreparedPanels reads them (tile_product/sources.h).
#pragma once

#include "integer_product/call.h"
#include "row_lookup_table_product/panels.h"
#include "tile_product/sources.h"

namespace pocketmt {
namespace {

// A register has 16 inputs of one output in each lane. Four of them, of neighbouring outputs, are transposed into
// groups of 4 inputs.
struct RowTableWeights {
    using Products = Registers::SignedWeights;
    static constexpr size_t unit_inputs = lane_inputs, panel_scales = panel_outputs;
    static constexpr size_t register_lanes = Registers::bytes / lane_bytes;
    static constexpr size_t unit_bytes = part_registers * Registers::bytes;  // Of a part of a panel: codes, or tables.
    size_t part_stride;

    explicit RowTableWeights(const IntegerCall& call) : part_stride(unit_bytes * (1 + call.steps)) {}
    POCKETMT_INLINE void prepare(const uint8_t* panel, size_t unit, uint8_t* to) const {
        for (size_t part = 0; part < panel_outputs / (part_registers * register_lanes); ++part) {
            const uint8_t* tables = panel + part * part_stride;
            const uint8_t* codes = tables + (1 + unit) * unit_bytes;
            unrolled<2>([&](auto half) POCKETMT_INLINE_LAMBDA {
                __m512i weights[part_registers];
                unrolled<part_registers>([&](auto index) POCKETMT_INLINE_LAMBDA {
                    const size_t place = index() * Registers::bytes;
                    const auto table = Registers::load(tables + place) + static_cast<uint8_t>(Products::zero);
                    weights[index()] =
                        (__m512i)Registers::look_up(table, Registers::nibbles<half()>(Registers::load(codes + place)));
                });
                store_groups(weights, to + part * tile_row_bytes + half() * part_registers * group_bytes);
            });
        }
    }

  private:
    POCKETMT_INLINE static void store_groups(const __m512i (&weights)[part_registers], uint8_t* to) {
        const __m512i first = _mm512_unpacklo_epi32(weights[0], weights[1]);
        const __m512i second = _mm512_unpacklo_epi32(weights[2], weights[3]);
        const __m512i third = _mm512_unpackhi_epi32(weights[0], weights[1]);
        const __m512i fourth = _mm512_unpackhi_epi32(weights[2], weights[3]);
        _mm512_storeu_si512(to, _mm512_unpacklo_epi64(first, second));
        _mm512_storeu_si512(to + group_bytes, _mm512_unpackhi_epi64(first, second));
        _mm512_storeu_si512(to + 2 * group_bytes, _mm512_unpacklo_epi64(third, fourth));
        _mm512_storeu_si512(to + 3 * group_bytes, _mm512_unpackhi_epi64(third, fourth));
    }
};

}  // namespace
}  // namespace pocketmt
