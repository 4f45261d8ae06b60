// Times products of several families in turn in one process, so that a disturbance affects all of them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/shapes.h"
#include "testing/arrays.h"
#include "testing/memory.h"
#include "testing/product_families.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

template <class T>
std::vector<T> random_bytes(size_t count) {
    std::mt19937 generator(1);
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(generator());
    return values;
}

// A product's packed matrix of random weights.
struct Packed {
    const Product* product;
    MatrixShape shape;
    size_t bytes;
    Memory memory;

    Packed(const Product& of, const MatrixShape& of_shape, const UnpackedWeights& weights)
        : product(&of), shape(of_shape), bytes(of.packed_bytes(shape)), memory(allocate(bytes)) {
        product->pack(weights, shape, memory.get());
    }
};

Packed pack_random(const Kernels& table, const std::string& name, const MatrixShape& shape) {
    const auto family = product_families.find(name);
    require(family != product_families.end() && family->second != ProductFamily::float32,
            "the family integer, six_bit, lookup_table, row_lookup_table or binary_code");
    auto integers = random_bytes<int8_t>(shape.rows * shape.columns);
    for (int8_t& each : integers) {
        each = std::max<int8_t>(each, -127);  // The uniform scheme has no -128.
        if (family->second == ProductFamily::six_bit) each /= 4;
        if (shape.bits == 7) each /= 2;
    }
    const auto codes = random_bytes<uint8_t>(shape.rows * ceil_divide(shape.columns, 2));
    const auto levels = random_bytes<int8_t>(shape.rows * 16);
    const std::vector<float> scales(shape.rows * most_binary_code_bits, 1.0f);
    return Packed(
        table.product(family->second), shape,
        {.integers = integers.data(), .codes = codes.data(), .levels = levels.data(), .scales = scales.data()});
}

// Copies of one matrix; many of them take more memory than a cache has.
class Stream {
  public:
    Stream(Packed packed, size_t copies) : packed_(std::move(packed)), copies_(copies) {
        stride_ = round_up(packed_.bytes, 64);
        memory_ = allocate(stride_ * copies);
        for (size_t copy = 0; copy < copies; ++copy) std::memcpy(place(copy), packed_.memory.get(), packed_.bytes);
        packed_.memory.reset();
    }

    // Seconds of one product, the mean of one pass over all copies. A single copy is multiplied once before, because
    // the other families have used the cache meanwhile.
    double time(const ProductInput& input, float* out) const {
        if (copies_ == 1) multiply(0, input, out);
        const auto start = std::chrono::steady_clock::now();
        for (size_t copy = 0; copy < copies_; ++copy) multiply(copy, input, out);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        return elapsed.count() / static_cast<double>(copies_);
    }

  private:
    void multiply(size_t copy, const ProductInput& input, float* out) const {
        packed_.product->multiply({place(copy), packed_.shape}, input, {}, {out, packed_.shape.rows});
    }
    void* place(size_t copy) const { return static_cast<std::byte*>(memory_.get()) + copy * stride_; }

    Packed packed_;
    size_t copies_;
    size_t stride_;
    Memory memory_;
};

// Rows of random activations: any codes, or, as after relu, none that is negative. Aligned as in the engine.
struct RandomActivations {
    std::vector<float> scales;
    size_t stride;
    Memory memory;

    RandomActivations(size_t count, size_t columns, bool after_relu)
        : scales(count, 1.0f), stride(round_up(columns, activation_alignment)), memory(allocate(count * stride)) {
        const auto random = random_bytes<int8_t>(count * columns);
        std::memset(memory.get(), 0, count * stride);
        for (size_t index = 0; index < random.size(); ++index)
            codes()[index / columns * stride + index % columns] =
                std::max<int8_t>(random[index], after_relu ? 0 : -127);
    }
    int8_t* codes() const { return static_cast<int8_t*>(memory.get()); }
    ProductInput input() const { return {.count = scales.size(), .quantized = {codes(), scales.data(), stride}}; }
};

// Names; bits of binary codes and of integers: 7 for weights from -64 to 63, else 8; whether activations are as after
// relu.
using Timed = std::tuple<std::string, size_t, bool>;

std::vector<std::vector<double>> time_products(const std::string& instruction_set, const std::vector<Timed>& timed,
                                               size_t rows, size_t columns, size_t count, size_t copies,
                                               size_t rounds) {
    require(rows > 0 && columns > 0 && count > 0 && copies > 0, "a product that is not empty");
    const Kernels& table = kernels_named(instruction_set);
    const RandomActivations any(count, columns, false), positive(count, columns, true);
    const Memory results = allocate(count * rows * sizeof(float));
    auto* out = static_cast<float*>(results.get());
    std::vector<std::pair<Stream, ProductInput>> products;
    for (const auto& [family, bits, after_relu] : timed) {
        products.emplace_back(Stream(pack_random(table, family, {rows, columns, bits}), copies),
                              (after_relu ? positive : any).input());
    }
    for (const auto& [stream, input] : products) stream.time(input, out);
    std::vector<std::vector<double>> seconds(timed.size());
    for (size_t round = 0; round < rounds; ++round) {
        for (size_t index = 0; index < products.size(); ++index)
            seconds[index].push_back(products[index].first.time(products[index].second, out));
    }
    return seconds;
}

size_t packed_bytes(const std::string& instruction_set, const std::string& family, size_t bits, size_t rows,
                    size_t columns) {
    require(rows > 0 && columns > 0, "a matrix that is not empty");
    return pack_random(kernels_named(instruction_set), family, {rows, columns, bits}).bytes;
}

}  // namespace

void bind_timing(nb::module_& module) {
    module.def("packed_bytes", &packed_bytes, nb::arg("instruction_set"), nb::arg("family"), nb::arg("bits"),
               nb::arg("rows"), nb::arg("columns"));
    module.def("time_products", &time_products, nb::arg("instruction_set"), nb::arg("families"), nb::arg("rows"),
               nb::arg("columns"), nb::arg("count"), nb::arg("copies"), nb::arg("rounds"));
}

}  // namespace pocketmt::testing
