// The products of fp32, 8-bit, 6-bit and level table weights as classes: a matrix is packed when it is made.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "kernels/shapes.h"
#include "testing/multiplication.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

// What these have: a packed block and its rows.
template <class Product>
class Matrix {
  public:
    NumPyArray<float> row(size_t index) const {
        require(index < rows_, "the index of a row");
        FencedRows<float> out(1, columns_, 0);
        product_.unpack_row(packed_.data(), rows_, columns_, index, out.data());
        return to_numpy(out.values(), {columns_});
    }

  protected:
    Matrix(const Product& product, size_t rows, size_t columns)
        : product_(product), rows_(rows), columns_(columns), packed_(product.packed_bytes(rows, columns), 64) {
        require(rows > 0 && columns > 0, "a matrix that is not empty");
    }
    // Rows of another one.
    Matrix(const Matrix& source, const Indices& indices) : Matrix(source.product_, indices.shape(0), source.columns_) {
        require_indices(indices, source.rows_);
        product_.gather(source.packed_.data(), source.rows_, columns_, fenced(indices).data(), rows_, packed_.data());
        packed_.check();
    }

    const Product& product_;
    const size_t rows_;
    const size_t columns_;
    const FencedBytes packed_;
};

class FloatMatrix : public Matrix<FloatProduct> {
  public:
    FloatMatrix(const std::string& instruction_set, const Array<float, 2>& weight)
        : Matrix(kernels_named(instruction_set).float_product, weight.shape(0), weight.shape(1)) {
        product_.pack(fenced(weight, 0).data(), rows_, columns_, packed_.data());
        packed_.check();
    }
    FloatMatrix(const FloatMatrix& source, const Indices& indices) : Matrix(source, indices) {}

    NumPyArray<float> multiply(const Array<float, 2>& activations, const PerRow& bias, bool relu, size_t gap) const {
        const size_t count = activations.shape(0);
        require(count > 0 && activations.shape(1) == columns_, "activations [count, columns]");
        const FencedRows<float> input = fenced(activations, gap);
        const FencedEpilogue epilogue(bias, relu, std::nullopt, rows_);
        const auto multiply = [&](const Outputs& outputs) {
            product_.multiply(packed_.data(), rows_, columns_, input.data(), input.stride(), count, epilogue.view(),
                              outputs);
        };
        return to_numpy(made_products(count, rows_, gap, multiply), {count, rows_});
    }
};

template <class Product>
class QuantizedMatrix : public Matrix<Product> {
  public:
    NumPyArray<float> multiply(const Array<int8_t, 2>& codes, const Array<float, 1>& scales, const PerRow& bias,
                               bool relu, size_t gap, const PerRow& offsets) const {
        const FencedEpilogue epilogue(bias, relu, offsets, this->rows_);
        return multiply_quantized(codes, scales, this->rows_, this->columns_, gap,
                                  [&](const QuantizedActivations& input, size_t count, const Outputs& outputs) {
                                      this->product_.multiply(this->packed_.data(), this->rows_, this->columns_, input,
                                                              count, epilogue.view(), outputs);
                                  });
    }

  protected:
    using Matrix<Product>::Matrix;
};

class IntegerMatrix : public QuantizedMatrix<IntegerProduct> {
  public:
    IntegerMatrix(const std::string& instruction_set, const Array<int8_t, 2>& codes, const Array<float, 1>& scales)
        : IntegerMatrix(kernels_named(instruction_set).integer_product, codes, scales) {}
    IntegerMatrix(const IntegerMatrix& source, const Indices& indices) : QuantizedMatrix(source, indices) {}

  protected:
    IntegerMatrix(const IntegerProduct& product, const Array<int8_t, 2>& codes, const Array<float, 1>& scales)
        : QuantizedMatrix(product, codes.shape(0), codes.shape(1)) {
        require(scales.shape(0) == rows_, "a scale for each row of the matrix");
        product_.pack(fenced(codes, 0).data(), fenced(scales).data(), rows_, columns_, packed_.data());
        packed_.check();
    }
};

class SixBitMatrix : public IntegerMatrix {
  public:
    SixBitMatrix(const std::string& instruction_set, const Array<int8_t, 2>& codes, const Array<float, 1>& scales)
        : IntegerMatrix(kernels_named(instruction_set).six_bit_product, codes, scales) {}
    SixBitMatrix(const SixBitMatrix& source, const Indices& indices) : IntegerMatrix(source, indices) {}
};

class LevelTableMatrix : public QuantizedMatrix<LevelTableProduct> {
  public:
    LevelTableMatrix(const std::string& instruction_set, const Array<uint8_t, 2>& codes, const Array<float, 1>& scales,
                     const Array<int8_t, 1>& levels, size_t columns)
        : LevelTableMatrix(kernels_named(instruction_set).level_table_product, codes, scales, columns) {
        require(levels.shape(0) == 16, "16 levels");
        pack(codes, scales, fenced(levels).data());
    }
    LevelTableMatrix(const LevelTableMatrix& source, const Indices& indices) : QuantizedMatrix(source, indices) {}

  protected:
    LevelTableMatrix(const LevelTableProduct& product, const Array<uint8_t, 2>& codes, const Array<float, 1>& scales,
                     size_t columns)
        : QuantizedMatrix(product, codes.shape(0), columns) {
        require(codes.shape(1) == ceil_divide(columns, 2), "codes [rows, (columns + 1) / 2]");
        require(scales.shape(0) == rows_, "a scale for each row of the matrix");
    }

    void pack(const Array<uint8_t, 2>& codes, const Array<float, 1>& scales, const int8_t* levels) {
        product_.pack(fenced(codes, 0).data(), fenced(scales).data(), levels, rows_, columns_, packed_.data());
        packed_.check();
    }
};

class RowTableMatrix : public LevelTableMatrix {
  public:
    RowTableMatrix(const std::string& instruction_set, const Array<uint8_t, 2>& codes, const Array<float, 1>& scales,
                   const Array<int8_t, 2>& levels, size_t columns)
        : LevelTableMatrix(kernels_named(instruction_set).row_table_product, codes, scales, columns) {
        require(levels.shape(0) == rows_ && levels.shape(1) == 16, "16 levels for each row of the matrix");
        pack(codes, scales, fenced(levels, 0).data());
    }
    RowTableMatrix(const RowTableMatrix& source, const Indices& indices) : LevelTableMatrix(source, indices) {}
};

// A new matrix of some rows of another.
template <class Packed>
Packed* gather(const Packed& matrix, const Indices& indices) {
    return new Packed(matrix, indices);
}

template <class Quantized>
void bind_quantized_multiply(nb::class_<Quantized>& bound) {
    bound.def("row", &Quantized::row, nb::arg("index"))
        .def("gather", &gather<Quantized>, nb::arg("indices"))
        .def("multiply", &Quantized::multiply, nb::arg("codes"), nb::arg("scales"), nb::arg("bias") = nb::none(),
             nb::arg("relu") = false, nb::arg("gap") = 0, nb::arg("offsets") = nb::none());
}

}  // namespace

void bind_products(nb::module_& module) {
    nb::class_<FloatMatrix>(module, "FloatMatrix")
        .def(nb::init<const std::string&, const Array<float, 2>&>(), nb::arg("instruction_set"), nb::arg("weight"))
        .def("row", &FloatMatrix::row, nb::arg("index"))
        .def("gather", &gather<FloatMatrix>, nb::arg("indices"))
        .def("multiply", &FloatMatrix::multiply, nb::arg("activations"), nb::arg("bias") = nb::none(),
             nb::arg("relu") = false, nb::arg("gap") = 0);
    nb::class_<IntegerMatrix> integer(module, "IntegerMatrix");
    integer.def(nb::init<const std::string&, const Array<int8_t, 2>&, const Array<float, 1>&>(),
                nb::arg("instruction_set"), nb::arg("codes"), nb::arg("scales"));
    bind_quantized_multiply(integer);
    nb::class_<SixBitMatrix> six_bit(module, "SixBitMatrix");
    six_bit.def(nb::init<const std::string&, const Array<int8_t, 2>&, const Array<float, 1>&>(),
                nb::arg("instruction_set"), nb::arg("codes"), nb::arg("scales"));
    bind_quantized_multiply(six_bit);
    nb::class_<LevelTableMatrix> level_table(module, "LevelTableMatrix");
    level_table.def(nb::init<const std::string&, const Array<uint8_t, 2>&, const Array<float, 1>&,
                             const Array<int8_t, 1>&, size_t>(),
                    nb::arg("instruction_set"), nb::arg("codes"), nb::arg("scales"), nb::arg("levels"),
                    nb::arg("columns"));
    bind_quantized_multiply(level_table);
    nb::class_<RowTableMatrix, LevelTableMatrix> row_table(module, "RowTableMatrix");
    row_table
        .def(nb::init<const std::string&, const Array<uint8_t, 2>&, const Array<float, 1>&, const Array<int8_t, 2>&,
                      size_t>(),
             nb::arg("instruction_set"), nb::arg("codes"), nb::arg("scales"), nb::arg("levels"), nb::arg("columns"))
        .def("gather", &gather<RowTableMatrix>, nb::arg("indices"));
}

}  // namespace pocketmt::testing
