// The bit plane product as a class: a matrix is packed when it is made.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "testing/multiplication.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

using Planes = Array<uint8_t, 3>;

class BitPlaneMatrix {
  public:
    BitPlaneMatrix(const std::string& instruction_set, const Planes& planes, const Array<float, 2>& alphas,
                   size_t columns)
        : product_(kernels_named(instruction_set).bit_plane_product),
          rows_(planes.shape(0)),
          columns_(columns),
          bits_(planes.shape(1)),
          packed_(product_.packed_bytes(rows_, columns_, bits_), 64) {
        require(rows_ > 0 && columns > 0, "a matrix that is not empty");
        require(planes.shape(2) == ceil_divide(columns, 8), "planes [rows, bits, (columns + 7) / 8]");
        require(alphas.shape(0) == rows_ && alphas.shape(1) == bits_, "alphas [rows, bits]");
        const FencedRows<uint8_t> fenced_planes(planes.data(), rows_ * bits_, planes.shape(2), 0);
        product_.pack(fenced_planes.data(), fenced(alphas, 0).data(), rows_, columns_, bits_, packed_.data());
        packed_.check();
    }

    // Rows of another one.
    BitPlaneMatrix(const BitPlaneMatrix& source, const Indices& indices)
        : product_(source.product_),
          rows_(indices.shape(0)),
          columns_(source.columns_),
          bits_(source.bits_),
          packed_(product_.packed_bytes(rows_, columns_, bits_), 64) {
        require_indices(indices, source.rows_);
        product_.gather(source.packed_.data(), source.rows_, columns_, bits_, fenced(indices).data(), rows_,
                        packed_.data());
        packed_.check();
    }

    NumPyArray<float> row(size_t index) const {
        require(index < rows_, "the index of a row");
        FencedRows<float> out(1, columns_, 0);
        product_.unpack_row(packed_.data(), rows_, columns_, bits_, index, out.data());
        return to_numpy(out.values(), {columns_});
    }

    NumPyArray<float> multiply(const Array<int8_t, 2>& codes, const Array<float, 1>& scales, const PerRow& bias,
                               bool relu, size_t gap, const PerRow& offsets) const {
        const FencedEpilogue epilogue(bias, relu, offsets, rows_);
        return multiply_quantized(codes, scales, rows_, columns_, gap,
                                  [&](const QuantizedActivations& input, size_t count, const Outputs& outputs) {
                                      product_.multiply(packed_.data(), rows_, columns_, bits_, input, count,
                                                        epilogue.view(), outputs);
                                  });
    }

  private:
    const BitPlaneProduct& product_;
    const size_t rows_, columns_, bits_;
    const FencedBytes packed_;
};

}  // namespace

void bind_bit_planes(nb::module_& module) {
    nb::class_<BitPlaneMatrix>(module, "BitPlaneMatrix")
        .def(nb::init<const std::string&, const Planes&, const Array<float, 2>&, size_t>(), nb::arg("instruction_set"),
             nb::arg("planes"), nb::arg("alphas"), nb::arg("columns"))
        .def("row", &BitPlaneMatrix::row, nb::arg("index"))
        .def(
            "gather",
            [](const BitPlaneMatrix& matrix, const Indices& indices) { return new BitPlaneMatrix(matrix, indices); },
            nb::arg("indices"))
        .def("multiply", &BitPlaneMatrix::multiply, nb::arg("codes"), nb::arg("scales"), nb::arg("bias") = nb::none(),
             nb::arg("relu") = false, nb::arg("gap") = 0, nb::arg("offsets") = nb::none());
}

}  // namespace pocketmt::testing
