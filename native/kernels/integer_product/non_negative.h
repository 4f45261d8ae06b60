// Activations of which none is negative, such as those after relu: some registers multiply them faster.
#pragma once

#include "integer_product/expanded.h"

namespace pocketmt {
namespace {

template <class Set>
bool any_is_negative(const IntegerCall& call, size_t rows) {
    const int8_t* codes = call.activations.codes;
    for (size_t row = 0; row < rows; ++row, codes += call.activations.stride) {
        if (Set::any_negative(codes, call.columns)) return true;
    }
    return false;
}

// The product of a block of rows in which no activation is negative; returns false, and computes nothing, if one is or
// if registers Set have no such product. Weights and fewest: as of multiply_rows.
template <class Set, template <class> class Weights, size_t fewest>
bool multiply_non_negative(const IntegerCall& call, size_t rows) {
    if constexpr (requires { typename Set::WeightsOfNonNegative; }) {
        if (any_is_negative<Set>(call, rows)) return false;
        using Source = Weights<typename Set::WeightsOfNonNegative>;
        multiply_rows<Source, fewest>(call, rows, tiles<Source>);
        return true;
    }
    return false;
}

}  // namespace
}  // namespace pocketmt
