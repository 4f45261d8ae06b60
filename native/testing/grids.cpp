// Every member of GridFunctions.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <vector>

#include "kernels/shapes.h"
#include "testing/arrays.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

using Vector = Array<float, 1>;
using Matrix = Array<float, 2>;
using Codes = Array<int8_t, 2>;
// Offsets, scales, inverses, half.
using PythonGrid = std::tuple<Vector, Vector, Vector, float>;

// A grid whose arrays are fenced; absent where there is none.
class FencedGrid {
  public:
    FencedGrid(const std::optional<PythonGrid>& grid, size_t columns) {
        if (!grid) return;
        const auto& [offsets, scales, inverses, half] = *grid;
        size_ = offsets.shape(0);
        half_ = half;
        require(size_ == 1 || size_ == columns, "one element of a grid, or one for each column");
        require(scales.shape(0) == size_ && inverses.shape(0) == size_, "offsets, scales and inverses of one size");
        offsets_.emplace(offsets.data(), 1, size_, 0);
        scales_.emplace(scales.data(), 1, size_, 0);
        inverses_.emplace(inverses.data(), 1, size_, 0);
    }
    Grid view() const {
        if (size_ == 0) return {};
        return {offsets_->data(), scales_->data(), inverses_->data(), size_, half_};
    }

  private:
    std::optional<FencedRows<float>> offsets_, scales_, inverses_;
    size_t size_ = 0;
    float half_ = 0.0f;
};

NumPyArray<float> snap(const std::string& instruction_set, const PythonGrid& grid, const Matrix& x) {
    const size_t count = x.shape(0), columns = x.shape(1);
    const FencedRows<float> values = fenced(x, 0);
    kernels_named(instruction_set).grid.snap(FencedGrid(grid, columns).view(), count, columns, values.data());
    return to_numpy(values.values(), {count, columns});
}

NumPyArray<int8_t> grid_codes(const std::string& instruction_set, const PythonGrid& grid, const Matrix& x,
                              size_t stride, size_t gap) {
    const size_t count = x.shape(0), columns = x.shape(1);
    require(stride >= columns, "a stride of at least the columns");
    const FencedRows<float> values = fenced(x, gap);
    const FencedRows<int8_t> codes(count, stride, 0);
    kernels_named(instruction_set)
        .grid.codes(FencedGrid(grid, columns).view(), values.data(), values.stride(), count, columns, codes.data(),
                    stride);
    return to_numpy(codes.values(), {count, stride});
}

NumPyArray<float> grid_norm(const std::string& instruction_set, const std::vector<std::optional<PythonGrid>>& grids,
                            const Matrix& x, const std::optional<Matrix>& residual, const Vector& gamma,
                            const Vector& beta, bool in_place) {
    const size_t count = x.shape(0), columns = x.shape(1);
    require(grids.size() == 4, "grids of numerator, denominator, quotient and output");
    require(gamma.shape(0) == columns && beta.shape(0) == columns, "gamma and beta [columns]");
    const FencedGrid numerator(grids[0], columns), denominator(grids[1], 1), quotient(grids[2], columns),
        output(grids[3], columns);
    const FencedRows<float> input = fenced(x, 0), sum(count, columns, 0), own(count, columns, 0);
    std::optional<FencedRows<float>> second;
    if (residual) second.emplace(residual->data(), count, columns, 0);
    const FencedRows<float>& out = in_place ? input : own;
    kernels_named(instruction_set)
        .grid.layer_norm({numerator.view(), denominator.view(), quotient.view(), output.view()}, input.data(),
                         second ? second->data() : nullptr, fenced(gamma).data(), fenced(beta).data(), count, columns,
                         in_place ? nullptr : sum.data(), out.data());
    return to_numpy(out.values(), {count, columns});
}

NumPyArray<float> attend_codes(const std::string& instruction_set, const std::vector<std::optional<PythonGrid>>& grids,
                               const Vector& query, const Codes& keys, const Codes& values,
                               const std::vector<size_t>& rows, size_t heads) {
    const size_t width = query.shape(0), positions = rows.size();
    require(grids.size() == 5, "grids of query, key, value, numerator and weight");
    require(heads > 0 && width % heads == 0 && width / heads % 4 == 0, "a head size that is a multiple of 4");
    require(keys.shape(1) == width && values.shape(1) == width, "query, keys and values of one width");
    require(positions > 0, "at least one position");
    const size_t head_size = width / heads, padded = round_up(positions, activation_alignment);
    const FencedGrid query_grid(grids[0], width), key(grids[1], width), value(grids[2], width), numerator(grids[3], 1),
        weight(grids[4], 1);
    const FencedRows<int8_t> key_rows = fenced(keys, 3), value_rows = fenced(values, 3);
    std::vector<const int8_t*> key_pointers, value_pointers;
    for (size_t row : rows) {
        require(row < keys.shape(0) && row < values.shape(0), "rows of keys and values");
        key_pointers.push_back(key_rows.row(row));
        value_pointers.push_back(value_rows.row(row));
    }
    const FencedRows<float> floats(1, padded + head_size, 0);
    const FencedRows<int8_t> codes(1, padded + round_up(head_size, activation_alignment), 0);
    const FencedRows<int32_t> columns(1, 2 * head_size, 0);
    const FencedRows<float> out(1, width, 0);
    kernels_named(instruction_set)
        .grid.attend({query_grid.view(), key.view(), value.view(), numerator.view(), weight.view()},
                     fenced(query).data(), key_pointers.data(), value_pointers.data(), positions, heads, head_size,
                     {floats.data(), codes.data(), columns.data()}, out.data());
    floats.values();
    codes.values();
    columns.values();
    return to_numpy(out.values(), {width});
}

}  // namespace

void bind_grids(nb::module_& module) {
    const auto set = nb::arg("instruction_set");
    module.def("snap", &snap, set, nb::arg("grid"), nb::arg("x"));
    module.def("grid_codes", &grid_codes, set, nb::arg("grid"), nb::arg("x"), nb::arg("stride"), nb::arg("gap") = 0);
    module.def("grid_norm", &grid_norm, set, nb::arg("grids"), nb::arg("x"), nb::arg("residual").none(),
               nb::arg("gamma"), nb::arg("beta"), nb::arg("in_place") = false);
    module.def("attend_codes", &attend_codes, set, nb::arg("grids"), nb::arg("query"), nb::arg("keys"),
               nb::arg("values"), nb::arg("rows"), nb::arg("heads"));
}

}  // namespace pocketmt::testing
