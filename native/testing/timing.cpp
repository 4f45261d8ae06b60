// How long products take: several families in turn in one process, so that what disturbs one disturbs the others.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "kernels/shapes.h"
#include "testing/arrays.h"
#include "testing/memory.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

template <class T>
std::vector<T> random_bytes(size_t count) {
    std::mt19937 generator(1);
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(generator() & 127);
    return values;
}

struct Shape {
    size_t rows;
    size_t columns;
};

// One family's packed matrix, and how it is multiplied.
struct Packed {
    size_t bytes;
    Memory memory;
    std::function<void(const void* packed, const QuantizedActivations&, size_t count, float* out)> multiply;
};

template <class Product, class... Given>
Packed pack(const Product& product, Shape shape, const Given&... given) {
    const size_t bytes = product.packed_bytes(shape.rows, shape.columns);
    Memory memory = allocate(bytes);
    product.pack(given.data()..., shape.rows, shape.columns, memory.get());
    return {bytes, std::move(memory),
            [&product, shape](const void* packed, const QuantizedActivations& input, size_t count, float* out) {
                product.multiply(packed, shape.rows, shape.columns, input, count, {}, {out, shape.rows});
            }};
}

Packed pack_planes(const BitPlaneProduct& product, Shape shape, size_t bits) {
    const size_t bytes = product.packed_bytes(shape.rows, shape.columns, bits);
    Memory memory = allocate(bytes);
    const auto planes = random_bytes<uint8_t>(shape.rows * bits * ceil_divide(shape.columns, 8));
    const std::vector<float> alphas(shape.rows * bits, 1.0f);
    product.pack(planes.data(), alphas.data(), shape.rows, shape.columns, bits, memory.get());
    return {bytes, std::move(memory),
            [&product, shape, bits](const void* packed, const QuantizedActivations& input, size_t count, float* out) {
                product.multiply(packed, shape.rows, shape.columns, bits, input, count, {}, {out, shape.rows});
            }};
}

// Families: integer (8 bits), six_bit, level_table, row_table, bit_planes.
Packed pack_random(const Kernels& table, const std::string& family, size_t bits, Shape shape) {
    const std::vector<float> scales(shape.rows, 1.0f);
    if (family == "bit_planes") return pack_planes(table.bit_plane_product, shape, bits);
    if (family == "level_table") {
        const auto codes = random_bytes<uint8_t>(shape.rows * ceil_divide(shape.columns, 2));
        return pack(table.level_table_product, shape, codes, scales, random_bytes<int8_t>(16));
    }
    if (family == "row_table") {
        const auto codes = random_bytes<uint8_t>(shape.rows * ceil_divide(shape.columns, 2));
        return pack(table.row_table_product, shape, codes, scales, random_bytes<int8_t>(shape.rows * 16));
    }
    auto weight = random_bytes<int8_t>(shape.rows * shape.columns);
    if (family == "integer") return pack(table.integer_product, shape, weight, scales);
    require(family == "six_bit", "the family is integer, six_bit, level_table, row_table or bit_planes");
    for (int8_t& each : weight) each &= 31;
    return pack(table.six_bit_product, shape, weight, scales);
}

// A family's matrices, copies of one: many take more memory than a cache has.
class Stream {
  public:
    Stream(Packed packed, size_t copies) : packed_(std::move(packed)), copies_(copies) {
        stride_ = round_up(packed_.bytes, 64);
        memory_ = allocate(stride_ * copies);
        for (size_t copy = 0; copy < copies; ++copy) std::memcpy(place(copy), packed_.memory.get(), packed_.bytes);
        packed_.memory.reset();
    }

    // Seconds of a product, over all copies once.
    double time(const QuantizedActivations& input, size_t count, float* out) const {
        const auto start = std::chrono::steady_clock::now();
        for (size_t copy = 0; copy < copies_; ++copy) packed_.multiply(place(copy), input, count, out);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        return elapsed.count() / static_cast<double>(copies_);
    }

  private:
    void* place(size_t copy) const { return static_cast<std::byte*>(memory_.get()) + copy * stride_; }

    Packed packed_;
    size_t copies_;
    size_t stride_;
    Memory memory_;
};

using Families = std::vector<std::pair<std::string, size_t>>;

std::vector<std::vector<double>> time_products(const std::string& instruction_set, const Families& families,
                                               size_t rows, size_t columns, size_t count, size_t copies,
                                               size_t rounds) {
    require(rows > 0 && columns > 0 && count > 0 && copies > 0, "a product that is not empty");
    const Kernels& table = kernels_named(instruction_set);
    const size_t stride = round_up(columns, activation_alignment);
    auto codes = random_bytes<int8_t>(count * stride);
    for (size_t row = 0; row < count; ++row) std::fill_n(codes.data() + row * stride + columns, stride - columns, 0);
    const std::vector<float> scales(count, 1.0f);
    const QuantizedActivations input{codes.data(), scales.data(), stride};
    std::vector<float> out(count * rows);
    std::vector<Stream> streams;
    for (const auto& [family, bits] : families)
        streams.emplace_back(pack_random(table, family, bits, {rows, columns}), copies);
    std::vector<std::vector<double>> seconds(families.size());
    for (const Stream& stream : streams) stream.time(input, count, out.data());
    for (size_t round = 0; round < rounds; ++round) {
        for (size_t index = 0; index < streams.size(); ++index)
            seconds[index].push_back(streams[index].time(input, count, out.data()));
    }
    return seconds;
}

size_t packed_bytes(const std::string& instruction_set, const std::string& family, size_t bits, size_t rows,
                    size_t columns) {
    require(rows > 0 && columns > 0, "a matrix that is not empty");
    return pack_random(kernels_named(instruction_set), family, bits, {rows, columns}).bytes;
}

}  // namespace

void bind_timing(nb::module_& module) {
    module.def("packed_bytes", &packed_bytes, nb::arg("instruction_set"), nb::arg("family"), nb::arg("bits"),
               nb::arg("rows"), nb::arg("columns"));
    module.def("time_products", &time_products, nb::arg("instruction_set"), nb::arg("families"), nb::arg("rows"),
               nb::arg("columns"), nb::arg("count"), nb::arg("copies"), nb::arg("rounds"));
}

}  // namespace pocketmt::testing
