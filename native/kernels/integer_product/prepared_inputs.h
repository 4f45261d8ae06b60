// Activations that are prepared once for all weights of a product: some registers multiply a few rows faster by them.
#pragma once

#include "integer_product/scratch.h"
#include "integer_product/tile.h"

namespace pocketmt {
namespace {

// The product of a block of more than whole_panel_rows and fewer than `limit` rows by weights of prepared activations;
// returns false, and computes nothing, with other numbers of rows or if registers Set have no such weights. Weights: as
// of multiply_tile.
template <class Set, template <class> class Weights, size_t limit>
bool multiply_prepared(IntegerCall call, size_t rows) {
    if constexpr (requires { typename Set::WeightsOfPrepared; }) {
        if (rows <= Set::whole_panel_rows || rows >= limit) return false;
        using Products = typename Set::WeightsOfPrepared;
        const size_t stride = call.activations.stride;
        const Scratch<16384> scratch(rows * stride * Products::prepared_bytes);
        int8_t* prepared = reinterpret_cast<int8_t*>(scratch.data());
        int32_t sums[limit];
        for (size_t row = 0; row < rows; ++row) {
            sums[row] = Products::prepare(call.activations.codes + row * stride, stride,
                                          prepared + row * stride * Products::prepared_bytes);
        }
        call.prepared_inputs = prepared;
        call.prepared_sums = sums;
        multiply_panels(call, rows, tiles<Weights<Products>>);
        return true;
    }
    return false;
}

}  // namespace
}  // namespace pocketmt
