// Every product, as one class: a matrix is packed when it is made.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <optional>

#include "kernels/shapes.h"
#include "testing/arrays.h"
#include "testing/made_products.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

using PerRow = std::optional<Array<float, 1>>;

// An epilogue whose arrays are guarded.
class GuardedEpilogue {
  public:
    GuardedEpilogue(const PerRow& bias, bool relu, const PerRow& offsets, size_t rows)
        : activation_(relu ? Activation::relu : Activation::none) {
        require(!bias || bias->shape(0) == rows, "a bias for each row of the matrix");
        require(!offsets || offsets->shape(0) == rows, "an offset for each row of the matrix");
        if (bias) bias_.emplace(bias->data(), 1, rows, 0);
        if (offsets) offsets_.emplace(offsets->data(), 1, rows, 0);
    }
    Epilogue view() const {
        return {bias_ ? bias_->data() : nullptr, activation_, offsets_ ? offsets_->data() : nullptr};
    }

  private:
    std::optional<GuardedRows<float>> bias_, offsets_;
    Activation activation_;
};

class Matrix {
  public:
    Matrix(const std::string& instruction_set, ProductFamily family, const MatrixShape& shape,
           const UnpackedWeights& weights)
        : Matrix(kernels_named(instruction_set).product(family), shape) {
        product_.pack(weights, shape, packed_.data());
        packed_.check();
    }
    // Rows of another matrix.
    Matrix(const Matrix& source, const Indices& indices)
        : Matrix(source.product_, {indices.shape(0), source.shape_.columns, source.shape_.bits}) {
        require_indices(indices, source.shape_.rows);
        product_.gather(source.view(), guarded(indices).data(), shape_.rows, packed_.data());
        packed_.check();
    }

    NumPyArray<float> row(size_t index) const {
        require(index < shape_.rows, "the index of a row");
        GuardedRows<float> out(1, shape_.columns, 0);
        product_.unpack_row(view(), index, out.data());
        return to_numpy(out.values(), {shape_.columns});
    }

    NumPyArray<float> multiply_floats(const Array<float, 2>& activations, const PerRow& bias, bool relu,
                                      size_t gap) const {
        const size_t count = activations.shape(0);
        require(!product_.quantized_input, "a matrix of fp32 weights");
        require(count > 0 && activations.shape(1) == shape_.columns, "activations [count, columns]");
        const GuardedRows<float> rows = guarded(activations, gap);
        return multiply({.count = count, .floats = rows.data(), .float_stride = rows.stride()},
                        GuardedEpilogue(bias, relu, std::nullopt, shape_.rows), gap);
    }

    NumPyArray<float> multiply_codes(const Array<int8_t, 2>& codes, const Array<float, 1>& scales, const PerRow& bias,
                                     bool relu, size_t gap, const PerRow& offsets) const {
        const size_t count = codes.shape(0), columns = shape_.columns;
        require(product_.quantized_input, "a matrix of quantized weights");
        require(count > 0 && codes.shape(1) == columns, "activation codes [count, columns]");
        require(scales.shape(0) == count, "a scale for each row of activations");
        const size_t stride = round_up(columns, activation_alignment);
        const GuardedRows<int8_t> padded(count, stride, 0);
        std::memset(padded.data(), 0, count * stride);
        for (size_t row = 0; row < count; ++row) std::memcpy(padded.row(row), codes.data() + row * columns, columns);
        const GuardedRows<float> guarded_scales = guarded(scales);
        return multiply({.count = count, .quantized = {padded.data(), guarded_scales.data(), stride}},
                        GuardedEpilogue(bias, relu, offsets, shape_.rows), gap);
    }

  private:
    Matrix(const Product& product, const MatrixShape& shape)
        : product_(product), shape_(shape), packed_(product.packed_bytes(shape), 64) {
        require(shape.rows > 0 && shape.columns > 0, "a matrix that is not empty");
    }

    PackedMatrix view() const { return {packed_.data(), shape_}; }
    NumPyArray<float> multiply(const ProductInput& input, const GuardedEpilogue& epilogue, size_t gap) const {
        const auto products = made_products(input.count, shape_.rows, gap, [&](const Outputs& outputs) {
            product_.multiply(view(), input, epilogue.view(), outputs);
        });
        return to_numpy(products, {input.count, shape_.rows});
    }

    const Product& product_;
    const MatrixShape shape_;
    const GuardedBytes packed_;
};

Matrix* float_matrix(const std::string& instruction_set, const Array<float, 2>& weights) {
    const MatrixShape shape{weights.shape(0), weights.shape(1)};
    const GuardedRows<float> floats = guarded(weights, 0);
    return new Matrix(instruction_set, ProductFamily::float32, shape, {.floats = floats.data()});
}

template <ProductFamily family>
Matrix* integer_matrix(const std::string& instruction_set, const Array<int8_t, 2>& weights,
                       const Array<float, 1>& scales) {
    const MatrixShape shape{weights.shape(0), weights.shape(1)};
    require(scales.shape(0) == shape.rows, "a scale for each row of the matrix");
    const GuardedRows<int8_t> integers = guarded(weights, 0);
    const GuardedRows<float> guarded_scales = guarded(scales);
    return new Matrix(instruction_set, family, shape, {.integers = integers.data(), .scales = guarded_scales.data()});
}

template <ProductFamily family, int level_dimensions>
Matrix* lookup_table_matrix(const std::string& instruction_set, const Array<uint8_t, 2>& codes,
                            const Array<float, 1>& scales, const Array<int8_t, level_dimensions>& levels,
                            size_t columns) {
    const MatrixShape shape{codes.shape(0), columns};
    require(codes.shape(1) == ceil_divide(columns, 2), "codes [rows, (columns + 1) / 2]");
    require(scales.shape(0) == shape.rows, "a scale for each row of the matrix");
    require(levels.shape(level_dimensions - 1) == 16, "16 levels");
    require(level_dimensions == 1 || levels.shape(0) == shape.rows, "levels for each row of the matrix");
    const GuardedRows<uint8_t> guarded_codes = guarded(codes, 0);
    const GuardedRows<float> guarded_scales = guarded(scales);
    const GuardedRows<int8_t> guarded_levels(levels.data(), 1, levels.size(), 0);
    return new Matrix(
        instruction_set, family, shape,
        {.codes = guarded_codes.data(), .levels = guarded_levels.data(), .scales = guarded_scales.data()});
}

Matrix* binary_code_matrix(const std::string& instruction_set, const Array<uint8_t, 3>& planes,
                           const Array<float, 2>& alphas, size_t columns) {
    const MatrixShape shape{planes.shape(0), columns, planes.shape(1)};
    require(planes.shape(2) == ceil_divide(columns, 8), "planes [rows, bits, (columns + 7) / 8]");
    require(alphas.shape(0) == shape.rows && alphas.shape(1) == shape.bits, "alphas [rows, bits]");
    const GuardedRows<uint8_t> codes(planes.data(), shape.rows * shape.bits, planes.shape(2), 0);
    const GuardedRows<float> scales = guarded(alphas, 0);
    return new Matrix(instruction_set, ProductFamily::binary_code, shape,
                      {.codes = codes.data(), .scales = scales.data()});
}

}  // namespace

void bind_products(nb::module_& module) {
    nb::class_<Matrix>(module, "Matrix")
        .def("row", &Matrix::row, nb::arg("index"))
        .def(
            "gather", [](const Matrix& matrix, const Indices& indices) { return new Matrix(matrix, indices); },
            nb::arg("indices"))
        .def("multiply_floats", &Matrix::multiply_floats, nb::arg("activations"), nb::arg("bias") = nb::none(),
             nb::arg("relu") = false, nb::arg("gap") = 0)
        .def("multiply", &Matrix::multiply_codes, nb::arg("codes"), nb::arg("scales"), nb::arg("bias") = nb::none(),
             nb::arg("relu") = false, nb::arg("gap") = 0, nb::arg("offsets") = nb::none());
    const auto set = nb::arg("instruction_set");
    module.def("float_matrix", &float_matrix, set, nb::arg("weights"));
    module.def("integer_matrix", &integer_matrix<ProductFamily::integer>, set, nb::arg("weights"), nb::arg("scales"));
    module.def("six_bit_matrix", &integer_matrix<ProductFamily::six_bit>, set, nb::arg("weights"), nb::arg("scales"));
    module.def("lookup_table_matrix", &lookup_table_matrix<ProductFamily::lookup_table, 1>, set, nb::arg("codes"),
               nb::arg("scales"), nb::arg("levels"), nb::arg("columns"));
    module.def("row_lookup_table_matrix", &lookup_table_matrix<ProductFamily::row_lookup_table, 2>, set,
               nb::arg("codes"), nb::arg("scales"), nb::arg("levels"), nb::arg("columns"));
    module.def("binary_code_matrix", &binary_code_matrix, set, nb::arg("planes"), nb::arg("alphas"),
               nb::arg("columns"));
}

}  // namespace pocketmt::testing
