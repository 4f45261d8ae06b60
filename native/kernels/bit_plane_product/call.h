// A bit plane product that looks up its sums by the byte, and the order in which tiles walk over it.
#pragma once

#include "bit_plane_product/panels.h"
#include "kernels.h"

namespace pocketmt {
namespace {

struct PlaneCall {
    const uint8_t* planes;
    const float* alphas;
    PlanePanelParts parts;
    size_t rows;  // outputs
    size_t bits;
    QuantizedActivations activations;
    const uint8_t* tables;  // of each row of activations, one after the other
    Epilogue epilogue;
    Outputs outputs;

    const uint8_t* plane(size_t panel, size_t bit) const { return planes + (panel * bits + bit) * parts.plane_bytes; }
    const float* plane_alphas(size_t panel, size_t bit) const { return alphas + (panel * bits + bit) * panel_outputs; }
};

// The rows and panels that a tile function multiplies.
struct PlaneRange {
    size_t first_row;
    size_t first_panel;
    size_t last_panel;  // one beyond
};

using PlaneTile = void (*)(const PlaneCall&, const PlaneRange&);

// One tile of rows: all panels in one go. More: a panel at a time for all rows, so that it is read from memory once.
template <size_t highest>
inline void multiply_planes(const PlaneCall& call, size_t count, const PlaneTile (&tiles)[highest]) {
    const size_t first = first_panel(call.outputs), last = last_panel(call.outputs, call.rows);
    if (count <= highest) return tiles[count - 1](call, {0, first, last});
    for (size_t panel = first; panel < last; ++panel) {
        for_tiles<highest>(count, [&](size_t row, size_t height) { tiles[height - 1](call, {row, panel, panel + 1}); });
    }
}

inline PlaneCall plane_call(const void* packed, size_t rows, size_t columns, size_t bits,
                            const QuantizedActivations& activations, const Epilogue& epilogue, const Outputs& outputs) {
    const PlanePanelParts parts = plane_panel_parts(rows, columns, bits);
    const uint8_t* planes = static_cast<const uint8_t*>(packed);
    const float* alphas = reinterpret_cast<const float*>(planes + parts.alphas);
    return {planes, alphas, parts, rows, bits, activations, nullptr, epilogue, outputs};
}

}  // namespace
}  // namespace pocketmt
