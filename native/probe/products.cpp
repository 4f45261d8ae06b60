// Every product against the plain reference, on shapes and numbers drawn at random.
#include <cfloat>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/reference.h"
#include "kernels/shapes.h"
#include "probe/probe.h"
#include "testing/fenced_memory.h"
#include "testing/made_products.h"

namespace pocketmt::probe {

namespace {

using testing::FencedBytes;
using testing::FencedRows;
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
    // Now and then the highest alone, which make the greatest sums.
    template <class T>
    std::vector<T> whole(size_t count, int lowest, int highest) {
        std::vector<T> values(count);
        if (between(1, 4) == 1) lowest = highest;
        for (T& value : values) value = static_cast<T>(between(lowest, highest));
        return values;
    }
    // In [-2, 2].
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

    // Now and then so many columns that sums of 16 bits do not hold them.
    explicit Shape(Draw& draw) : rows(draw.size(100)), columns(draw.size(200)), count(draw.size(10)) {
        if (draw.between(1, 10) == 1) columns += 8192;
    }
    [[noreturn]] void refuse(const std::string& product) const {
        throw std::runtime_error("the " + product + " of [" + std::to_string(count) + ", " + std::to_string(columns) +
                                 "] activations by [" + std::to_string(rows) + ", " + std::to_string(columns) +
                                 "] weights disagrees with its reference");
    }
};

// Arguments of one product, in memory that ends where nothing may be read.
struct Arguments {
    Shape shape;
    FencedRows<float> bias, offsets;
    Epilogue epilogue;
    FencedRows<int8_t> codes;
    FencedRows<float> scales;
    size_t gap;

    Arguments(Draw& draw, const Shape& drawn)
        : shape(drawn),
          bias(draw.real(shape.rows).data(), 1, shape.rows, 0),
          offsets(draw.real(shape.rows).data(), 1, shape.rows, 0),
          epilogue{draw.coin() ? bias.data() : nullptr, draw.coin(), draw.coin() ? offsets.data() : nullptr},
          codes(shape.count, round_up(shape.columns, activation_alignment), 0),
          scales(draw.real(shape.count).data(), 1, shape.count, 0),
          gap(draw.size(9) - 1) {
        for (size_t row = 0; row < shape.count; ++row) {
            const auto drawn_codes = draw.whole<int8_t>(shape.columns, draw.coin() ? -128 : -127, 127);
            std::memset(codes.row(row), 0, codes.stride());
            std::memcpy(codes.row(row), drawn_codes.data(), shape.columns);
        }
    }
    QuantizedActivations activations() const { return {codes.data(), scales.data(), codes.stride()}; }

    // multiply(outputs) must give what is expected.
    template <class Multiply>
    void compare(const char* product, const std::vector<float>& expected, Multiply&& multiply) const {
        const std::vector<float> found = made_products(shape.count, shape.rows, gap, multiply);
        if (std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)) != 0) shape.refuse(product);
    }
};

void compare_integers(const IntegerProduct& product, const char* name, Draw& draw, int lowest, int highest) {
    const Arguments given(draw, Shape(draw));
    const auto [rows, columns, count] = given.shape;
    const auto weight = draw.whole<int8_t>(rows * columns, lowest, highest);
    const std::vector<float> scales = draw.real(rows);
    const FencedBytes packed(product.packed_bytes(rows, columns), packed_alignment);
    product.pack(weight.data(), scales.data(), rows, columns, packed.data());
    packed.check();
    std::vector<float> expected(count * rows);
    reference::integer_product(weight.data(), scales.data(), rows, columns, given.activations(), count, given.epilogue,
                               expected.data());
    given.compare(name, expected, [&](const Outputs& outputs) {
        product.multiply(packed.data(), given.shape.rows, given.shape.columns, given.activations(), given.shape.count,
                         given.epilogue, outputs);
    });
}

// Of one table, or of one a row, `row_levels` levels behind that of the row before.
void compare_table(const LevelTableProduct& product, const char* name, size_t row_levels, Draw& draw) {
    const Arguments given(draw, Shape(draw));
    const Shape& shape = given.shape;
    const auto codes = draw.whole<uint8_t>(shape.rows * ceil_divide(shape.columns, 2), 0, 255);
    const auto levels = draw.whole<int8_t>(16 + (shape.rows - 1) * row_levels, -127, 127);
    const std::vector<float> scales = draw.real(shape.rows);
    const FencedBytes packed(product.packed_bytes(shape.rows, shape.columns), packed_alignment);
    product.pack(codes.data(), scales.data(), levels.data(), shape.rows, shape.columns, packed.data());
    packed.check();
    const std::vector<int8_t> weight =
        reference::decode_levels(codes.data(), levels.data(), row_levels, shape.rows, shape.columns);
    std::vector<float> expected(shape.count * shape.rows);
    reference::integer_product(weight.data(), scales.data(), shape.rows, shape.columns, given.activations(),
                               shape.count, given.epilogue, expected.data());
    given.compare(name, expected, [&](const Outputs& outputs) {
        product.multiply(packed.data(), shape.rows, shape.columns, given.activations(), shape.count, given.epilogue,
                         outputs);
    });
}

void compare_bit_planes(const BitPlaneProduct& product, Draw& draw) {
    const Arguments given(draw, Shape(draw));
    const Shape& shape = given.shape;
    const size_t bits = draw.size(largest_plane_bits);
    const auto planes = draw.whole<uint8_t>(shape.rows * bits * ceil_divide(shape.columns, 8), 0, 255);
    const std::vector<float> alphas = draw.real(shape.rows * bits);
    const FencedBytes packed(product.packed_bytes(shape.rows, shape.columns, bits), packed_alignment);
    product.pack(planes.data(), alphas.data(), shape.rows, shape.columns, bits, packed.data());
    packed.check();
    std::vector<float> expected(shape.count * shape.rows);
    reference::bit_plane_product(planes.data(), alphas.data(), shape.rows, shape.columns, bits, given.activations(),
                                 shape.count, given.epilogue, expected.data());
    given.compare("bit plane product", expected, [&](const Outputs& outputs) {
        product.multiply(packed.data(), shape.rows, shape.columns, bits, given.activations(), shape.count,
                         given.epilogue, outputs);
    });
}

void compare_floats(const FloatProduct& product, Draw& draw) {
    const Arguments given(draw, Shape(draw));
    const Shape& shape = given.shape;
    const Epilogue epilogue{given.epilogue.bias, given.epilogue.relu};
    const std::vector<float> weight = draw.real(shape.rows * shape.columns),
                             activations = draw.real(shape.count * shape.columns);
    const FencedRows<float> input(activations.data(), shape.count, shape.columns, given.gap);
    const FencedBytes packed(product.packed_bytes(shape.rows, shape.columns), packed_alignment);
    product.pack(weight.data(), shape.rows, shape.columns, packed.data());
    packed.check();
    std::vector<float> expected(shape.count * shape.rows);
    reference::float_product(weight.data(), shape.rows, shape.columns, activations.data(), shape.count, epilogue,
                             expected.data());
    const std::vector<float> found = made_products(shape.count, shape.rows, given.gap, [&](const Outputs& outputs) {
        product.multiply(packed.data(), shape.rows, shape.columns, input.data(), input.stride(), shape.count, epilogue,
                         outputs);
    });
    // As in check_kernels.
    const float size = static_cast<float>(shape.columns), bound = (size + 2.0f) * FLT_EPSILON * (size * 4.0f + 2.0f);
    for (size_t i = 0; i < found.size(); ++i) {
        if (!(std::fabs(found[i] - expected[i]) <= bound)) shape.refuse("fp32 product");
    }
}

}  // namespace

size_t compare_products(const Kernels& table) {
    constexpr size_t products = 5;
    for (unsigned seed = 0; seed < cases; ++seed) {
        Draw draw(seed);
        compare_integers(table.integer_product, "8-bit product", draw, -128, 127);
        compare_integers(table.six_bit_product, "6-bit product", draw, -32, 31);
        compare_table(table.level_table_product, "level table product", 0, draw);
        compare_table(table.row_table_product, "row level table product", 16, draw);
        compare_bit_planes(table.bit_plane_product, draw);
        compare_floats(table.float_product, draw);
    }
    return cases * products;
}

}  // namespace pocketmt::probe
