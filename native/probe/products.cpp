// Every product on random numbers: compared with the plain reference, or repeated.
#include <cfloat>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/reference.h"
#include "kernels/shapes.h"
#include "probe/probe.h"
#include "testing/guarded_memory.h"
#include "testing/made_products.h"
#include "testing/product_families.h"

namespace pocketmt::probe {

namespace {

using testing::GuardedBytes;
using testing::GuardedRows;
using testing::made_products;

constexpr size_t cases = 150;
constexpr size_t packed_alignment = 64;

class Draw {
  public:
    explicit Draw(unsigned seed) : generator_(seed) {}
    int between(int lowest, int highest) {
        return lowest + static_cast<int>(generator_() % static_cast<unsigned>(highest - lowest + 1));
    }
    size_t size(int highest) { return static_cast<size_t>(between(1, highest)); }
    bool coin() { return between(0, 1) != 0; }
    // Sometimes only the highest value, which makes the greatest sums.
    template <class T>
    std::vector<T> whole(size_t count, int lowest, int highest) {
        std::vector<T> values(count);
        if (between(1, 4) == 1) lowest = highest;
        for (T& value : values) value = static_cast<T>(between(lowest, highest));
        return values;
    }
    // From -2 to 2.
    std::vector<float> real(size_t count) {
        std::vector<float> values(count);
        for (float& value : values) value = static_cast<float>(between(-(1 << 20), 1 << 20)) / (1 << 19);
        return values;
    }

  private:
    std::mt19937 generator_;
};

struct Shape {
    size_t rows, columns, count;

    Shape(size_t rows, size_t columns, size_t count) : rows(rows), columns(columns), count(count) {}
    // One shape in ten has enough columns that the sums exceed 16 bits, and fewer rows.
    explicit Shape(Draw& draw) : rows(draw.size(100)), columns(draw.size(200)), count(draw.size(10)) {
        if (draw.between(1, 10) != 1) return;
        columns += 8192;
        rows = ceil_divide(rows, 5);
    }
    [[noreturn]] void refuse(const std::string& product) const {
        throw std::runtime_error("the " + product + " of [" + std::to_string(count) + ", " + std::to_string(columns) +
                                 "] activations by [" + std::to_string(rows) + ", " + std::to_string(columns) +
                                 "] weights disagrees with its reference");
    }
};

// The arguments of one product, in memory that ends where nothing may be read.
struct Arguments {
    GuardedRows<float> floats;
    GuardedRows<int8_t> codes;
    GuardedRows<float> scales, bias, offsets;
    size_t gap;

    Arguments(Draw& draw, const Shape& shape)
        : floats(draw.real(shape.count * shape.columns).data(), shape.count, shape.columns, 0),
          codes(shape.count, round_up(shape.columns, activation_alignment), 0),
          scales(draw.real(shape.count).data(), 1, shape.count, 0),
          bias(draw.real(shape.rows).data(), 1, shape.rows, 0),
          offsets(draw.real(shape.rows).data(), 1, shape.rows, 0),
          gap(draw.size(9) - 1) {
        for (size_t row = 0; row < shape.count; ++row) {
            const auto drawn = draw.whole<int8_t>(shape.columns, draw.coin() ? -128 : -127, 127);
            std::memset(codes.row(row), 0, codes.stride());
            std::memcpy(codes.row(row), drawn.data(), shape.columns);
        }
    }
    ProductInput input(bool quantized) const {
        const size_t count = codes.count();
        if (!quantized) return {.count = count, .floats = floats.data(), .float_stride = floats.stride()};
        return {.count = count, .quantized = {codes.data(), scales.data(), codes.stride()}};
    }
    Epilogue epilogue(Draw& draw) const {
        return {draw.coin() ? bias.data() : nullptr, draw.coin() ? Activation::relu : Activation::none,
                draw.coin() ? offsets.data() : nullptr};
    }
};

// The weights that a family has.
struct Weights {
    std::vector<float> floats, scales;
    std::vector<int8_t> integers, levels;
    std::vector<uint8_t> codes;

    Weights(Draw& draw, ProductFamily family, const MatrixShape& shape)
        : scales(draw.real(shape.rows * most_binary_code_bits)) {
        const size_t count = shape.rows * shape.columns;
        switch (family) {
            case ProductFamily::float32:
                floats = draw.real(count);
                break;
            case ProductFamily::integer:
                integers = draw.whole<int8_t>(count, -128, 127);
                break;
            case ProductFamily::six_bit:
                integers = draw.whole<int8_t>(count, -32, 31);
                break;
            case ProductFamily::lookup_table:
            case ProductFamily::row_lookup_table:
            case ProductFamily::binary_code:
                levels = draw.whole<int8_t>(shape.rows * 16, -127, 127);
                codes = draw.whole<uint8_t>(shape.rows * ceil_divide(shape.columns, 2), 0, 255);
        }
    }
    UnpackedWeights view() const {
        return {floats.data(), integers.data(), codes.data(), levels.data(), scales.data()};
    }
};

void compare(const Product& product, ProductFamily family, Draw& draw) {
    const Shape drawn(draw);
    const MatrixShape shape{drawn.rows, drawn.columns, draw.size(most_binary_code_bits)};
    const Arguments given(draw, drawn);
    const ProductInput input = given.input(product.quantized_input);
    const Epilogue epilogue = given.epilogue(draw);
    const Weights weights(draw, family, shape);
    const GuardedBytes packed(product.packed_bytes(shape), packed_alignment);
    product.pack(weights.view(), shape, packed.data());
    packed.check();
    std::vector<float> expected(drawn.count * drawn.rows);
    reference::multiply(family, weights.view(), shape, input, epilogue, expected.data());
    const std::vector<float> found = made_products(drawn.count, drawn.rows, given.gap, [&](const Outputs& outputs) {
        product.multiply({packed.data(), shape}, input, epilogue, outputs);
    });
    if (product.quantized_input) {
        if (std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)) != 0) drawn.refuse(product.name);
        return;
    }
    // As in check_kernels.
    const float size = static_cast<float>(shape.columns), bound = (size + 2.0f) * FLT_EPSILON * (size * 4.0f + 2.0f);
    for (size_t i = 0; i < found.size(); ++i) {
        if (!(std::fabs(found[i] - expected[i]) <= bound)) drawn.refuse(product.name);
    }
}

size_t positive(const std::string& number) {
    size_t end = 0;
    const unsigned long value = std::stoul(number, &end);
    if (value == 0 || end != number.size()) throw std::invalid_argument(number + " is not a positive whole number");
    return value;
}

}  // namespace

size_t compare_products(const Kernels& table) {
    for (unsigned seed = 0; seed < cases; ++seed) {
        Draw draw(seed);
        for (size_t family = 0; family < product_family_count; ++family)
            compare(*table.products[family], static_cast<ProductFamily>(family), draw);
    }
    return cases * product_family_count;
}

void repeat_product(const Kernels& table, std::span<const std::string> words) {
    if (words.size() != 6) throw std::invalid_argument("a product has a family and five numbers");
    const auto family = testing::product_families.find(words[0]);
    if (family == testing::product_families.end()) throw std::invalid_argument("there is no family " + words[0]);
    const MatrixShape shape{positive(words[2]), positive(words[3]), positive(words[1])};
    const size_t count = positive(words[4]), times = positive(words[5]);
    const Product& product = table.product(family->second);
    Draw draw(1);
    const Arguments given(draw, Shape(shape.rows, shape.columns, count));
    const Weights weights(draw, family->second, shape);
    const GuardedBytes packed(product.packed_bytes(shape), packed_alignment);
    product.pack(weights.view(), shape, packed.data());
    std::vector<float> out(count * shape.rows);
    for (size_t time = 0; time < times; ++time)
        product.multiply({packed.data(), shape}, given.input(product.quantized_input), {}, {out.data(), shape.rows});
}

}  // namespace pocketmt::probe
