// Bindings of VectorFunctions.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "kernels/shapes.h"
#include "testing/arrays.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

using Vector = Array<float, 1>;
using Matrix = Array<float, 2>;
constexpr size_t position_alignment = 16;

std::pair<NumPyArray<int8_t>, NumPyArray<float>> quantize_rows(const std::string& instruction_set, const Matrix& x,
                                                               size_t gap) {
    const size_t count = x.shape(0), columns = x.shape(1), stride = round_up(columns, activation_alignment);
    const GuardedRows<float> input = guarded(x, gap);
    const GuardedRows<int8_t> codes(count, stride, 0);
    const GuardedRows<float> scales(1, count, 0);
    kernels_named(instruction_set)
        .vector.quantize_rows(input.data(), input.stride(), count, columns, codes.data(), scales.data(), stride);
    return {to_numpy(codes.values(), {count, stride}), to_numpy(scales.values(), {count})};
}

std::pair<NumPyArray<int8_t>, NumPyArray<float>> quantize_rows_logarithmic(const std::string& instruction_set,
                                                                           const Matrix& x, float top, float scale,
                                                                           size_t gap) {
    const size_t count = x.shape(0), columns = x.shape(1), stride = round_up(columns, activation_alignment);
    const GuardedRows<float> input = guarded(x, gap);
    const GuardedRows<int8_t> codes(count, stride, 0);
    const GuardedRows<float> scales(1, count, 0);
    kernels_named(instruction_set)
        .vector.quantize_rows_logarithmic(input.data(), input.stride(), count, columns, top, scale, codes.data(),
                                          scales.data(), stride);
    return {to_numpy(codes.values(), {count, stride}), to_numpy(scales.values(), {count})};
}

NumPyArray<int8_t> quantize_rows_static(const std::string& instruction_set, const Matrix& x, float inverse,
                                        size_t gap) {
    const size_t count = x.shape(0), columns = x.shape(1), stride = round_up(columns, activation_alignment);
    const GuardedRows<float> input = guarded(x, gap);
    const GuardedRows<int8_t> codes(count, stride, 0);
    kernels_named(instruction_set)
        .vector.quantize_rows_static(input.data(), input.stride(), count, columns, inverse, codes.data(), stride);
    return to_numpy(codes.values(), {count, stride});
}

// Memory for the inputs and results of a normalization, whose results can replace its inputs.
struct NormalizationMemory {
    GuardedRows<float> x;
    std::optional<GuardedRows<float>> residual;
    GuardedRows<float> sum;
    GuardedRows<float> out;

    const GuardedRows<float>& named(const std::string& name, const GuardedRows<float>& own) const {
        if (name == "x") return x;
        if (name == "residual" && residual) return *residual;
        require(name == "own", "a place: own, x or residual");
        return own;
    }
};

std::pair<std::optional<NumPyArray<float>>, NumPyArray<float>> layer_norm(
    const std::string& instruction_set, const Matrix& x, const std::optional<Matrix>& residual, const Vector& gamma,
    const Vector& beta, const std::optional<std::string>& sum_place, const std::string& out_place, float epsilon) {
    const size_t count = x.shape(0), columns = x.shape(1);
    require(!residual || (residual->shape(0) == count && residual->shape(1) == columns), "x and residual of one shape");
    require(gamma.shape(0) == columns && beta.shape(0) == columns, "gamma and beta [columns]");
    require(sum_place != out_place || out_place == "own", "sum and out in separate memory");
    NormalizationMemory memory{guarded(x, 0), std::nullopt, {count, columns, 0}, {count, columns, 0}};
    if (residual) memory.residual.emplace(residual->data(), count, columns, 0);
    const GuardedRows<float>* sum = sum_place ? &memory.named(*sum_place, memory.sum) : nullptr;
    const GuardedRows<float>& out = memory.named(out_place, memory.out);
    const float* second = memory.residual ? memory.residual->data() : nullptr;
    kernels_named(instruction_set)
        .vector.layer_norm(memory.x.data(), second, guarded(gamma).data(), guarded(beta).data(), epsilon, count,
                           columns, sum ? sum->data() : nullptr, out.data());
    std::optional<NumPyArray<float>> kept;
    if (sum) kept = to_numpy(sum->values(), {count, columns});
    return {kept, to_numpy(out.values(), {count, columns})};
}

NumPyArray<float> scale_add(const std::string& instruction_set, const Vector& x, float factor, const Vector& y) {
    require(x.shape(0) == y.shape(0), "x and y of one size");
    const size_t size = x.shape(0);
    const GuardedRows<float> out(1, size, 0);
    kernels_named(instruction_set).vector.scale_add(guarded(x).data(), factor, guarded(y).data(), size, out.data());
    return to_numpy(out.values(), {size});
}

using ActivationFunction = void (*)(size_t size, float* x);

// function: a member of VectorFunctions.
NumPyArray<float> activate(const std::string& instruction_set, ActivationFunction VectorFunctions::* function,
                           const Vector& x) {
    const GuardedRows<float> values = guarded(x);
    (kernels_named(instruction_set).vector.*function)(x.shape(0), values.data());
    return to_numpy(values.values(), {x.shape(0)});
}

void bind_activation(nb::module_& module, const char* name, ActivationFunction VectorFunctions::* function) {
    module.def(
        name,
        [function](const std::string& instruction_set, const Vector& x) {
            return activate(instruction_set, function, x);
        },
        nb::arg("instruction_set"), nb::arg("x"));
}

void require_heads(size_t width, size_t heads) {
    require(heads > 0 && width % heads == 0 && width / heads % 4 == 0, "a head size that is a multiple of 4");
}

NumPyArray<float> transpose_keys(const std::string& instruction_set, const Matrix& keys, size_t heads, size_t gap) {
    const size_t positions = keys.shape(0), width = keys.shape(1);
    require_heads(width, heads);
    const size_t padded = round_up(positions, position_alignment);
    const GuardedRows<float> input = guarded(keys, gap);
    const GuardedRows<float> out(1, width * padded, 0);
    kernels_named(instruction_set)
        .vector.transpose_keys(input.data(), input.stride(), positions, heads, width / heads, padded, out.data());
    return to_numpy(out.values(), {heads, width / heads, padded});
}

NumPyArray<float> attend(const std::string& instruction_set, const Matrix& queries, const Array<float, 3>& keys,
                         const Matrix& values, size_t gap) {
    const size_t count = queries.shape(0), width = queries.shape(1), positions = values.shape(0);
    const size_t heads = keys.shape(0), head_size = keys.shape(1), padded = keys.shape(2);
    require_heads(width, heads);
    require(heads * head_size == width && values.shape(1) == width, "queries, keys and values of one width");
    require(positions > 0 && padded == round_up(positions, position_alignment), "keys padded to 16 positions");
    const GuardedRows<float> query_rows = guarded(queries, gap), value_rows = guarded(values, gap);
    const GuardedRows<float> transposed(keys.data(), 1, width * padded, 0);
    const GuardedRows<float> by_head(heads, positions * head_size, gap);
    for (size_t column = 0; column < width; ++column) {
        for (size_t i = 0; i < positions; ++i)
            by_head.row(column / head_size)[i * head_size + column % head_size] = value_rows.row(i)[column];
    }
    const auto attend_to = [&](const KeysAndValues& memory) {
        const GuardedRows<float> scores(attention_rows, padded, 0);
        const GuardedRows<float> out(count, width, gap);
        kernels_named(instruction_set)
            .vector.attend(query_rows.data(), query_rows.stride(), count, memory, heads, head_size, scores.data(),
                           out.data(), out.stride());
        scores.values();
        return out.values();
    };
    const auto found =
        attend_to({transposed.data(), value_rows.data(), value_rows.stride(), head_size, positions, padded});
    if (found != attend_to({transposed.data(), by_head.data(), head_size, by_head.stride(), positions, padded}))
        throw std::runtime_error("attention depends on how its values lie");
    return to_numpy(found, {count, width});
}

NumPyArray<float> attend_cache(const std::string& instruction_set, const Vector& query, const Matrix& keys,
                               const Matrix& values, const std::vector<size_t>& rows, size_t heads) {
    const size_t width = query.shape(0), positions = rows.size();
    require_heads(width, heads);
    require(keys.shape(1) == width && values.shape(1) == width, "query, keys and values of one width");
    require(positions > 0, "at least one position");
    constexpr size_t gap = position_alignment;  // Rows of a cache can lie anywhere.
    const GuardedRows<float> key_rows = guarded(keys, gap), value_rows = guarded(values, gap);
    std::vector<const float*> key_pointers, value_pointers;
    for (size_t row : rows) {
        require(row < keys.shape(0) && row < values.shape(0), "rows of keys and values");
        key_pointers.push_back(key_rows.row(row));
        value_pointers.push_back(value_rows.row(row));
    }
    const GuardedRows<float> scores(heads, round_up(positions, position_alignment), 0);
    const GuardedRows<float> out(1, width, 0);
    kernels_named(instruction_set)
        .vector.attend_cache(guarded(query).data(), key_pointers.data(), value_pointers.data(), positions, heads,
                             width / heads, scores.data(), out.data());
    scores.values();
    return to_numpy(out.values(), {width});
}

std::pair<NumPyArray<float>, NumPyArray<float>> recurrent_unit(const std::string& instruction_set,
                                                               const Vector& projected, const Vector& forget_bias,
                                                               const std::optional<Vector>& before) {
    const size_t size = forget_bias.shape(0);
    require(projected.shape(0) == 2 * size && (!before || before->shape(0) == size),
            "projected [2 size], the others [size]");
    std::optional<GuardedRows<float>> cell_before;
    if (before) cell_before.emplace(before->data(), 1, size, 0);
    const GuardedRows<float> cell(1, size, 0), out(1, size, 0);
    kernels_named(instruction_set)
        .vector.recurrent_unit(guarded(projected).data(), guarded(forget_bias).data(),
                               cell_before ? cell_before->data() : nullptr, size, cell.data(), out.data());
    return {to_numpy(cell.values(), {size}), to_numpy(out.values(), {size})};
}

NumPyArray<float> running_mean(const std::string& instruction_set, const Vector& x, const std::optional<Vector>& before,
                               size_t count) {
    const size_t size = x.shape(0);
    require(!before || before->shape(0) == size, "x and before of one size");
    std::optional<GuardedRows<float>> earlier;
    if (before) earlier.emplace(before->data(), 1, size, 0);
    const GuardedRows<float> mean(1, size, 0);
    kernels_named(instruction_set)
        .vector.running_mean(guarded(x).data(), earlier ? earlier->data() : nullptr, count, size, mean.data());
    return to_numpy(mean.values(), {size});
}

NumPyArray<float> gated_sum(const std::string& instruction_set, const Vector& x_gate, const Vector& x,
                            const Vector& y_gate, const Vector& y) {
    const size_t size = x.shape(0);
    require(x_gate.shape(0) == size && y_gate.shape(0) == size && y.shape(0) == size, "vectors of one size");
    const GuardedRows<float> out(1, size, 0);
    kernels_named(instruction_set)
        .vector.gated_sum(guarded(x_gate).data(), guarded(x).data(), guarded(y_gate).data(), guarded(y).data(), size,
                          out.data());
    return to_numpy(out.values(), {size});
}

std::pair<NumPyArray<float>, NumPyArray<float>> lstm_unit(const std::string& instruction_set, const Vector& given,
                                                          const std::optional<Vector>& recurrent,
                                                          const std::optional<Vector>& before) {
    const size_t size = given.shape(0) / 4;
    require(given.shape(0) == 4 * size && (!recurrent || recurrent->shape(0) == 4 * size) &&
                (!before || before->shape(0) == size),
            "given and recurrent [4 size], cell_before [size]");
    std::optional<GuardedRows<float>> added, cell_before;
    if (recurrent) added.emplace(recurrent->data(), 1, 4 * size, 0);
    if (before) cell_before.emplace(before->data(), 1, size, 0);
    const GuardedRows<float> cell(1, size, 0), hidden(1, size, 0);
    kernels_named(instruction_set)
        .vector.lstm_unit(guarded(given).data(), added ? added->data() : nullptr,
                          cell_before ? cell_before->data() : nullptr, size, cell.data(), hidden.data());
    return {to_numpy(cell.values(), {size}), to_numpy(hidden.values(), {size})};
}

// Merges `slice` values at a time.
std::pair<NumPyArray<uint32_t>, NumPyArray<float>> top_k(const std::string& instruction_set, const Vector& x, size_t k,
                                                         size_t slice) {
    require(k >= 1 && slice >= 1, "k and slice of at least 1");
    const GuardedRows<uint32_t> indices(1, k, 0);
    const GuardedRows<float> values(1, k, 0);
    std::fill_n(values.data(), k, -std::numeric_limits<float>::infinity());
    for (size_t first = 0; first < x.shape(0); first += slice) {
        const size_t size = std::min(slice, x.shape(0) - first);
        const GuardedRows<float> part(x.data() + first, 1, size, 0);
        kernels_named(instruction_set)
            .vector.top_k(part.data(), size, static_cast<uint32_t>(first), k, indices.data(), values.data());
    }
    return {to_numpy(indices.values(), {k}), to_numpy(values.values(), {k})};
}

}  // namespace

void bind_vector_functions(nb::module_& module) {
    const auto set = nb::arg("instruction_set");
    module.def("quantize_rows", &quantize_rows, set, nb::arg("x"), nb::arg("gap") = 0);
    module.def("quantize_rows_logarithmic", &quantize_rows_logarithmic, set, nb::arg("x"), nb::arg("top"),
               nb::arg("scale"), nb::arg("gap") = 0);
    module.def("quantize_rows_static", &quantize_rows_static, set, nb::arg("x"), nb::arg("inverse"),
               nb::arg("gap") = 0);
    module.def("layer_norm", &layer_norm, set, nb::arg("x"), nb::arg("residual").none(), nb::arg("gamma"),
               nb::arg("beta"), nb::arg("sum_place") = nb::none(), nb::arg("out_place") = "own",
               nb::arg("epsilon") = 1e-5f);
    module.def("scale_add", &scale_add, set, nb::arg("x"), nb::arg("factor"), nb::arg("y"));
    bind_activation(module, "swish", &VectorFunctions::swish);
    bind_activation(module, "gelu", &VectorFunctions::gelu);
    bind_activation(module, "gelu_tanh", &VectorFunctions::gelu_tanh);
    bind_activation(module, "gelu_sigmoid", &VectorFunctions::gelu_sigmoid);
    module.def("transpose_keys", &transpose_keys, set, nb::arg("keys"), nb::arg("heads"), nb::arg("gap") = 0);
    module.def("attend", &attend, set, nb::arg("queries"), nb::arg("keys"), nb::arg("values"), nb::arg("gap") = 0);
    module.def("attend_cache", &attend_cache, set, nb::arg("query"), nb::arg("keys"), nb::arg("values"),
               nb::arg("rows"), nb::arg("heads"));
    module.def("recurrent_unit", &recurrent_unit, set, nb::arg("projected"), nb::arg("forget_bias"),
               nb::arg("cell_before").none());
    module.def("running_mean", &running_mean, set, nb::arg("x"), nb::arg("before").none(), nb::arg("count"));
    module.def("gated_sum", &gated_sum, set, nb::arg("x_gate"), nb::arg("x"), nb::arg("y_gate"), nb::arg("y"));
    module.def("lstm_unit", &lstm_unit, set, nb::arg("given"), nb::arg("recurrent").none(),
               nb::arg("cell_before").none());
    module.def(
        "log_sum_exp",
        [](const std::string& instruction_set, const Vector& x) {
            return kernels_named(instruction_set).vector.log_sum_exp(guarded(x).data(), x.shape(0));
        },
        set, nb::arg("x"));
    module.def("top_k", &top_k, set, nb::arg("x"), nb::arg("k"), nb::arg("slice"));
}

}  // namespace pocketmt::testing
