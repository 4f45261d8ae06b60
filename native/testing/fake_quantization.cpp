// Bindings of FakeQuantizationFunctions.
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
// Offsets, scales, inverses and half.
using PythonParameters = std::tuple<Vector, Vector, Vector, float>;

// Quantization parameters whose arrays are guarded; None stands for an operation that is not quantized.
class GuardedParameters {
  public:
    GuardedParameters(const std::optional<PythonParameters>& parameters, size_t columns) {
        if (!parameters) return;
        const auto& [offsets, scales, inverses, half] = *parameters;
        size_ = offsets.shape(0);
        half_ = half;
        require(size_ == 1 || size_ == columns, "one element, or one for each column");
        require(scales.shape(0) == size_ && inverses.shape(0) == size_, "offsets, scales and inverses of one size");
        offsets_.emplace(offsets.data(), 1, size_, 0);
        scales_.emplace(scales.data(), 1, size_, 0);
        inverses_.emplace(inverses.data(), 1, size_, 0);
    }
    QuantizationParameters view() const {
        if (size_ == 0) return {};
        return {offsets_->data(), scales_->data(), inverses_->data(), size_, half_};
    }

  private:
    std::optional<GuardedRows<float>> offsets_, scales_, inverses_;
    size_t size_ = 0;
    float half_ = 0.0f;
};

NumPyArray<float> fake_quantize(const std::string& instruction_set, const PythonParameters& parameters,
                                const Matrix& x) {
    const size_t count = x.shape(0), columns = x.shape(1);
    const GuardedRows<float> values = guarded(x, 0);
    kernels_named(instruction_set)
        .fake_quantization.fake_quantize(GuardedParameters(parameters, columns).view(), count, columns, values.data());
    return to_numpy(values.values(), {count, columns});
}

NumPyArray<int8_t> quantize(const std::string& instruction_set, const PythonParameters& parameters, const Matrix& x,
                            size_t stride, size_t gap) {
    const size_t count = x.shape(0), columns = x.shape(1);
    require(stride >= columns, "a stride of at least the columns");
    const GuardedRows<float> values = guarded(x, gap);
    const GuardedRows<int8_t> codes(count, stride, 0);
    kernels_named(instruction_set)
        .fake_quantization.quantize(GuardedParameters(parameters, columns).view(), values.data(), values.stride(),
                                    count, columns, codes.data(), stride);
    return to_numpy(codes.values(), {count, stride});
}

NumPyArray<float> quantized_layer_norm(const std::string& instruction_set,
                                       const std::vector<std::optional<PythonParameters>>& quantization,
                                       const Matrix& x, const std::optional<Matrix>& residual, const Vector& gamma,
                                       const Vector& beta, bool in_place, float epsilon) {
    const size_t count = x.shape(0), columns = x.shape(1);
    require(quantization.size() == 4, "parameters of numerator, denominator, quotient and output");
    require(gamma.shape(0) == columns && beta.shape(0) == columns, "gamma and beta [columns]");
    const GuardedParameters numerator(quantization[0], columns), denominator(quantization[1], 1),
        quotient(quantization[2], columns), output(quantization[3], columns);
    const GuardedRows<float> input = guarded(x, 0), sum(count, columns, 0), own(count, columns, 0);
    std::optional<GuardedRows<float>> second;
    if (residual) second.emplace(residual->data(), count, columns, 0);
    const GuardedRows<float>& out = in_place ? input : own;
    kernels_named(instruction_set)
        .fake_quantization.layer_norm({numerator.view(), denominator.view(), quotient.view(), output.view()},
                                      input.data(), second ? second->data() : nullptr, guarded(gamma).data(),
                                      guarded(beta).data(), epsilon, count, columns, in_place ? nullptr : sum.data(),
                                      out.data());
    return to_numpy(out.values(), {count, columns});
}

NumPyArray<float> attend_codes(const std::string& instruction_set,
                               const std::vector<std::optional<PythonParameters>>& quantization, const Vector& query,
                               const Codes& keys, const Codes& values, const std::vector<size_t>& rows, size_t heads) {
    const size_t width = query.shape(0), positions = rows.size();
    require(quantization.size() == 5, "parameters of query, key, value, numerator and weight");
    require(heads > 0 && width % heads == 0 && width / heads % 4 == 0, "a head size that is a multiple of 4");
    require(keys.shape(1) == width && values.shape(1) == width, "query, keys and values of one width");
    require(positions > 0, "at least one position");
    const size_t head_size = width / heads, padded = round_up(positions, activation_alignment);
    const GuardedParameters query_parameters(quantization[0], width), key(quantization[1], width),
        value(quantization[2], width), numerator(quantization[3], 1), weight(quantization[4], 1);
    const GuardedRows<int8_t> key_rows = guarded(keys, 3), value_rows = guarded(values, 3);
    std::vector<const int8_t*> key_pointers, value_pointers;
    for (size_t row : rows) {
        require(row < keys.shape(0) && row < values.shape(0), "rows of keys and values");
        key_pointers.push_back(key_rows.row(row));
        value_pointers.push_back(value_rows.row(row));
    }
    const GuardedRows<float> floats(1, padded + head_size, 0);
    const GuardedRows<int8_t> codes(1, padded + round_up(head_size, activation_alignment), 0);
    const GuardedRows<int32_t> columns(1, 2 * head_size, 0);
    const GuardedRows<float> out(1, width, 0);
    kernels_named(instruction_set)
        .fake_quantization.attend({query_parameters.view(), key.view(), value.view(), numerator.view(), weight.view()},
                                  guarded(query).data(), key_pointers.data(), value_pointers.data(), positions, heads,
                                  head_size, {floats.data(), codes.data(), columns.data()}, out.data());
    floats.values();
    codes.values();
    columns.values();
    return to_numpy(out.values(), {width});
}

}  // namespace

void bind_fake_quantization(nb::module_& module) {
    const auto set = nb::arg("instruction_set");
    module.def("fake_quantize", &fake_quantize, set, nb::arg("parameters"), nb::arg("x"));
    module.def("quantize", &quantize, set, nb::arg("parameters"), nb::arg("x"), nb::arg("stride"), nb::arg("gap") = 0);
    module.def("quantized_layer_norm", &quantized_layer_norm, set, nb::arg("quantization"), nb::arg("x"),
               nb::arg("residual").none(), nb::arg("gamma"), nb::arg("beta"), nb::arg("in_place") = false,
               nb::arg("epsilon") = 1e-5f);
    module.def("attend_codes", &attend_codes, set, nb::arg("quantization"), nb::arg("query"), nb::arg("keys"),
               nb::arg("values"), nb::arg("rows"), nb::arg("heads"));
}

}  // namespace pocketmt::testing
