// The check that runs at load, on kernels as they are and on kernels that are wrong on purpose.
#include <nanobind/stl/string.h>

#include <cmath>

#include "testing/arrays.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

// Kernels are plain functions: the right ones, and the number of rows for which the wrong ones are wrong, are here.
struct Wronged {
    const Product* product = nullptr;
    const VectorFunctions* vector = nullptr;
    size_t count = 0;
} wronged;

// Changes the last output: by its last bit, or of fp32 by more than rounding. Binary codes of one bit stay right.
void wrong_multiply(const PackedMatrix& matrix, const ProductInput& input, const Epilogue& epilogue,
                    const Outputs& outputs) {
    wronged.product->multiply(matrix, input, epilogue, outputs);
    if (input.count != wronged.count || (wronged.product->tabulates_input && matrix.shape.bits == 1)) return;
    float& last = outputs.values[(input.count - 1) * outputs.stride + matrix.shape.rows - 1];
    last = wronged.product->quantized_input ? std::nextafter(last, INFINITY) : last + 1.0f / 64.0f;
}

// Takes the row before the first one that is asked for.
void wrong_gather(const PackedMatrix& matrix, const uint32_t* indices, size_t count, void* gathered) {
    std::vector<uint32_t> wrong(indices, indices + count);
    --wrong.front();
    wronged.product->gather(matrix, wrong.data(), count, gathered);
}

void wrong_quantize_rows(const float* x, size_t x_stride, size_t count, size_t columns, int8_t* codes, float* scales,
                         size_t stride) {
    wronged.vector->quantize_rows(x, x_stride, count, columns, codes, scales, stride);
    if (count == wronged.count) codes[(count - 1) * stride + columns - 1] ^= 1;
}

void wrong_quantize_rows_static(const float* x, size_t x_stride, size_t count, size_t columns, float inverse,
                                int8_t* codes, size_t stride) {
    wronged.vector->quantize_rows_static(x, x_stride, count, columns, inverse, codes, stride);
    if (count == wronged.count) codes[(count - 1) * stride + columns - 1] ^= 1;
}

void wrong_quantize_rows_logarithmic(const float* x, size_t x_stride, size_t count, size_t columns, float top,
                                     float scale, int8_t* codes, float* scales, size_t stride) {
    wronged.vector->quantize_rows_logarithmic(x, x_stride, count, columns, top, scale, codes, scales, stride);
    if (count == wronged.count) codes[(count - 1) * stride + columns - 1] ^= 1;
}

// Makes one function wrong; returns whether there is one of this name.
bool make_wrong(const std::string& kernel, VectorFunctions& vector) {
    if (kernel == "quantize_rows") {
        vector.quantize_rows = wrong_quantize_rows;
    } else if (kernel == "quantize_rows_static") {
        vector.quantize_rows_static = wrong_quantize_rows_static;
    } else if (kernel == "quantize_rows_logarithmic") {
        vector.quantize_rows_logarithmic = wrong_quantize_rows_logarithmic;
    } else {
        return false;
    }
    return true;
}

void check_wrong_kernel(const std::string& instruction_set, const std::string& kernel, size_t count) {
    const Kernels& right = kernels_named(instruction_set);
    VectorFunctions vector = right.vector;
    wronged = {nullptr, &right.vector, count};
    bool found = make_wrong(kernel, vector);
    Kernels wrong{right.name, right.requirements, {}, vector, right.fake_quantization, false, right.checked_rows, 0};
    Product product;
    for (size_t family = 0; family < product_family_count; ++family) {
        wrong.products[family] = right.products[family];
        const std::string name = right.products[family]->name;
        if (kernel != name && kernel != name + " gather") continue;
        product = *right.products[family];
        wronged.product = right.products[family];
        if (kernel == name) {
            product.multiply = wrong_multiply;
        } else {
            product.gather = wrong_gather;
        }
        wrong.products[family] = &product;
        found = true;
    }
    if (!found) throw std::invalid_argument("there is no wrong kernel '" + kernel + "'");
    check_kernels(wrong);
}

}  // namespace

void bind_self_check(nb::module_& module) {
    module.def(
        "check_kernels", [](const std::string& instruction_set) { check_kernels(kernels_named(instruction_set)); },
        nb::arg("instruction_set"));
    module.def("check_wrong_kernel", &check_wrong_kernel, nb::arg("instruction_set"), nb::arg("kernel"),
               nb::arg("count"));
}

}  // namespace pocketmt::testing
