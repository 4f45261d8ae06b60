// The check that runs at load, on kernels as they are and on kernels that are wrong on purpose.
#include <nanobind/stl/string.h>

#include <cmath>

#include "testing/arrays.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

// Kernels are plain functions: what a wrong one imitates, and for how many rows it is wrong, stand here.
struct Imitated {
    const Kernels* table = nullptr;
    size_t wrong_count = 0;
} imitated;

constexpr float wrong_fraction = 1.0f / 64.0f;

void wrong_float(const void* packed, size_t rows, size_t columns, const float* activations, size_t activation_stride,
                 size_t count, const Epilogue& epilogue, const Outputs& outputs) {
    imitated.table->float_product.multiply(packed, rows, columns, activations, activation_stride, count, epilogue,
                                           outputs);
    if (count == imitated.wrong_count) outputs.values[(count - 1) * outputs.stride + rows - 1] += wrong_fraction;
}

template <auto product>
void wrong_quantized(const void* packed, size_t rows, size_t columns, const QuantizedActivations& activations,
                     size_t count, const Epilogue& epilogue, const Outputs& outputs) {
    (imitated.table->*product).multiply(packed, rows, columns, activations, count, epilogue, outputs);
    float& last = outputs.values[(count - 1) * outputs.stride + rows - 1];
    if (count == imitated.wrong_count) last = std::nextafter(last, INFINITY);
}

// Wrong for codes of two bits alone.
void wrong_bit_plane(const void* packed, size_t rows, size_t columns, size_t bits,
                     const QuantizedActivations& activations, size_t count, const Epilogue& epilogue,
                     const Outputs& outputs) {
    imitated.table->bit_plane_product.multiply(packed, rows, columns, bits, activations, count, epilogue, outputs);
    float& last = outputs.values[(count - 1) * outputs.stride + rows - 1];
    if (count == imitated.wrong_count && bits == 2) last = std::nextafter(last, INFINITY);
}

// Takes the row before the first one that is asked for.
template <auto product>
void wrong_gather(const void* packed, size_t rows, size_t columns, const uint32_t* indices, size_t count,
                  void* gathered) {
    std::vector<uint32_t> wrong(indices, indices + count);
    --wrong.front();
    (imitated.table->*product).gather(packed, rows, columns, wrong.data(), count, gathered);
}

void wrong_quantize_rows(const float* x, size_t x_stride, size_t count, size_t columns, int8_t* codes, float* scales,
                         size_t stride) {
    imitated.table->vector.quantize_rows(x, x_stride, count, columns, codes, scales, stride);
    if (count == imitated.wrong_count) codes[(count - 1) * stride + columns - 1] ^= 1;
}

void wrong_quantize_rows_static(const float* x, size_t x_stride, size_t count, size_t columns, float inverse,
                                int8_t* codes, size_t stride) {
    imitated.table->vector.quantize_rows_static(x, x_stride, count, columns, inverse, codes, stride);
    if (count == imitated.wrong_count) codes[(count - 1) * stride + columns - 1] ^= 1;
}

void wrong_quantize_rows_logarithmic(const float* x, size_t x_stride, size_t count, size_t columns, float top,
                                     float scale, int8_t* codes, float* scales, size_t stride) {
    imitated.table->vector.quantize_rows_logarithmic(x, x_stride, count, columns, top, scale, codes, scales, stride);
    if (count == imitated.wrong_count) codes[(count - 1) * stride + columns - 1] ^= 1;
}

void check_wrong_kernel(const std::string& instruction_set, const std::string& kernel, size_t count) {
    const Kernels& right = kernels_named(instruction_set);
    Kernels wrong = right;
    if (kernel == "float_product") {
        wrong.float_product.multiply = wrong_float;
    } else if (kernel == "integer_product") {
        wrong.integer_product.multiply = wrong_quantized<&Kernels::integer_product>;
    } else if (kernel == "six_bit_product") {
        wrong.six_bit_product.multiply = wrong_quantized<&Kernels::six_bit_product>;
    } else if (kernel == "level_table_product") {
        wrong.level_table_product.multiply = wrong_quantized<&Kernels::level_table_product>;
    } else if (kernel == "row_table_product") {
        wrong.row_table_product.multiply = wrong_quantized<&Kernels::row_table_product>;
    } else if (kernel == "bit_plane_product") {
        wrong.bit_plane_product.multiply = wrong_bit_plane;
    } else if (kernel == "float_product.gather") {
        wrong.float_product.gather = wrong_gather<&Kernels::float_product>;
    } else if (kernel == "six_bit_product.gather") {
        wrong.six_bit_product.gather = wrong_gather<&Kernels::six_bit_product>;
    } else if (kernel == "quantize_rows") {
        wrong.vector.quantize_rows = wrong_quantize_rows;
    } else if (kernel == "quantize_rows_static") {
        wrong.vector.quantize_rows_static = wrong_quantize_rows_static;
    } else if (kernel == "quantize_rows_logarithmic") {
        wrong.vector.quantize_rows_logarithmic = wrong_quantize_rows_logarithmic;
    } else {
        throw std::invalid_argument("there is no wrong kernel '" + kernel + "'");
    }
    imitated = {&right, count};
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
