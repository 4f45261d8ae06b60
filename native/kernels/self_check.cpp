// One block through every product before the first translation: a wrong kernel writes fluent nonsense, so it must not
// start.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels.h"
#include "reference.h"
#include "shapes.h"

namespace pocketmt {

namespace {

// Ragged on purpose: more than one panel and tile, with a rest of outputs, inputs and rows.
constexpr size_t rows = 77;
constexpr size_t columns = 101;
constexpr size_t count = 15;

class Numbers {  // xorshift: the same block everywhere
  public:
    // In [-127, 127].
    int next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return static_cast<int>(state_ % 255u) - 127;
    }
    float next_float() { return static_cast<float>(next()) / 64.0f; }

  private:
    uint32_t state_ = 2463534242u;
};

struct Block {
    std::vector<float> weight, scales, bias, offsets, reversed_bias, reversed_offsets, alphas, activations;
    std::vector<uint32_t> reversed_rows;
    std::vector<int8_t> codes, six_bit_weights, levels, row_levels;
    std::vector<uint8_t> level_codes, planes;

    Block()
        : weight(rows * columns),
          scales(rows),
          bias(rows),
          offsets(rows),
          alphas(rows * largest_plane_bits),
          activations(count * columns),
          codes(rows * columns),
          six_bit_weights(rows * columns),
          levels(16),
          row_levels(rows * 16),
          level_codes(rows * ceil_divide(columns, 2)),
          planes(rows * largest_plane_bits * ceil_divide(columns, 8)) {
        Numbers numbers;
        for (float& value : weight) value = numbers.next_float();
        for (float& value : scales) value = std::fabs(numbers.next_float()) + 0.01f;
        for (float& value : bias) value = numbers.next_float();
        for (float& value : offsets) value = numbers.next_float();
        for (float& value : alphas) value = numbers.next_float();
        for (float& value : activations) value = numbers.next_float();
        for (int8_t& value : codes) value = static_cast<int8_t>(numbers.next());
        for (int8_t& value : six_bit_weights) value = static_cast<int8_t>((numbers.next() & 63) - 32);
        for (int8_t& value : levels) value = static_cast<int8_t>(numbers.next());
        for (int8_t& value : row_levels) value = static_cast<int8_t>(numbers.next());
        for (uint8_t& value : level_codes) value = static_cast<uint8_t>(numbers.next() + 127);
        for (uint8_t& value : planes) value = static_cast<uint8_t>(numbers.next() + 127);
        reversed_bias.assign(bias.rbegin(), bias.rend());
        reversed_offsets.assign(offsets.rbegin(), offsets.rend());
        for (size_t row = rows; row-- > 0;) reversed_rows.push_back(static_cast<uint32_t>(row));
    }

    // The same for the rows in reverse.
    Epilogue reversed(const Epilogue& epilogue) const {
        return {epilogue.bias ? reversed_bias.data() : nullptr, epilogue.relu,
                epilogue.offsets ? reversed_offsets.data() : nullptr};
    }
};

struct AlignedBytes {
    explicit AlignedBytes(size_t size) : data(::operator new(size, std::align_val_t(64))) {}
    ~AlignedBytes() { ::operator delete(data, std::align_val_t(64)); }
    AlignedBytes(const AlignedBytes&) = delete;
    AlignedBytes& operator=(const AlignedBytes&) = delete;
    void* const data;
};

[[noreturn]] void refuse(const Kernels& table, const char* kernel) {
    throw std::runtime_error(
        std::string("the ") + kernel + " kernel of instruction set " + table.name +
        " disagrees with its reference on this machine; translate with POCKETMT_INSTRUCTION_SET=portable and "
        "report this, with the CPU's name");
}

// Whether the rows in reverse, gathered into a block of their own, give the same bits as in `out` [count, rows].
void compare_reversed(const Kernels& table, const char* kernel, std::vector<float> out, const float* reversed) {
    for (size_t row = 0; row < count; ++row) std::reverse(out.data() + row * rows, out.data() + (row + 1) * rows);
    if (std::memcmp(out.data(), reversed, out.size() * sizeof(float)) != 0) refuse(table, kernel);
}

void check_float_product(const Kernels& table, const Block& block) {
    const FloatProduct& product = table.float_product;
    const Epilogue epilogue{block.bias.data(), false};
    AlignedBytes packed(product.packed_bytes(rows, columns));
    product.pack(block.weight.data(), rows, columns, packed.data);
    std::vector<float> out(count * rows), expected(count * rows);
    const float* activations = block.activations.data();
    reference::float_product(block.weight.data(), rows, columns, activations, count, epilogue, expected.data());
    for (const size_t part : {size_t{1}, count}) {  // they take different ways
        product.multiply(packed.data, rows, columns, activations, columns, part, epilogue, {out.data(), rows});
        for (size_t i = 0; i < part * rows; ++i) {
            // Sequential summation of `columns` products and a bias: |error| <= (columns + 2) eps sum|a w|, and |a|,
            // |w|, |bias| <= 2.
            const float bound = (columns + 2) * FLT_EPSILON * (columns * 4.0f + 2.0f);
            if (!(std::fabs(out[i] - expected[i]) <= bound)) refuse(table, "fp32 product");
        }
    }
    AlignedBytes gathered(product.packed_bytes(rows, columns));
    product.gather(packed.data, rows, columns, block.reversed_rows.data(), rows, gathered.data);
    product.multiply(gathered.data, rows, columns, activations, columns, count, block.reversed(epilogue),
                     {expected.data(), rows});
    compare_reversed(table, "fp32 product", out, expected.data());
}

struct Quantized {
    std::vector<int8_t> codes;
    std::vector<float> scales;
    static constexpr size_t stride = round_up(columns, activation_alignment);

    Quantized() : codes(count * stride), scales(count) {}
    QuantizedActivations view() const { return {codes.data(), scales.data(), stride}; }
};

Quantized check_quantization(const Kernels& table, const Block& block) {
    Quantized quantized, expected;
    const float* x = block.activations.data();
    table.vector.quantize_rows(x, columns, count, columns, quantized.codes.data(), quantized.scales.data(),
                               quantized.stride);
    reference::quantize_rows(x, count, columns, expected.codes.data(), expected.scales.data(), expected.stride);
    if (quantized.codes != expected.codes || quantized.scales != expected.scales)
        refuse(table, "activation quantization");
    return quantized;
}

void check_static_quantization(const Kernels& table, const Block& block) {
    constexpr float inverse = 80.0f;  // activations lie within [-2, 2]: some are clamped
    Quantized quantized, expected;
    const float* x = block.activations.data();
    table.vector.quantize_rows_static(x, columns, count, columns, inverse, quantized.codes.data(), quantized.stride);
    reference::quantize_rows_static(x, count, columns, inverse, expected.codes.data(), expected.stride);
    if (quantized.codes != expected.codes) refuse(table, "activation quantization at a given scale");
}

void check_logarithmic_quantization(const Kernels& table, const Block& block) {
    constexpr float top = 128.0f, scale = 1.25f;
    Quantized quantized, expected;
    const float* x = block.activations.data();
    table.vector.quantize_rows_logarithmic(x, columns, count, columns, top, scale, quantized.codes.data(),
                                           quantized.scales.data(), quantized.stride);
    reference::quantize_rows_logarithmic(x, count, columns, top, scale, expected.codes.data(), expected.scales.data(),
                                         expected.stride);
    if (quantized.codes != expected.codes || quantized.scales != expected.scales)
        refuse(table, "activation log quantization");
}

// Multiplies one row and all of them, which take different ways, and then all with the gathered rows in reverse, and
// compares with `expected` bit for bit: multiply(packed block, rows of activations, epilogue, out), gather(to).
template <class Multiply, class Gather>
void compare_bits(const Kernels& table, const char* kernel, const Block& block, const Epilogue& epilogue,
                  const std::vector<float>& expected, const AlignedBytes& packed, const AlignedBytes& gathered,
                  Multiply&& multiply, Gather&& gather) {
    std::vector<float> out(count * rows);
    for (const size_t part : {size_t{1}, count}) {
        multiply(packed.data, part, epilogue, out.data());
        if (std::memcmp(out.data(), expected.data(), part * rows * sizeof(float)) != 0) refuse(table, kernel);
    }
    gather(gathered.data);
    multiply(gathered.data, count, block.reversed(epilogue), out.data());
    compare_reversed(table, kernel, expected, out.data());
}

void check_integer_product(const Kernels& table, const IntegerProduct& product, const char* kernel,
                           const std::vector<int8_t>& weight, const Block& block,
                           const QuantizedActivations& activations, const Epilogue& epilogue) {
    const size_t bytes = product.packed_bytes(rows, columns);
    AlignedBytes packed(bytes), gathered(bytes);
    product.pack(weight.data(), block.scales.data(), rows, columns, packed.data);
    std::vector<float> expected(count * rows);
    reference::integer_product(weight.data(), block.scales.data(), rows, columns, activations, count, epilogue,
                               expected.data());
    compare_bits(
        table, kernel, block, epilogue, expected, packed, gathered,
        [&](const void* from, size_t part, const Epilogue& each, float* out) {
            product.multiply(from, rows, columns, activations, part, each, {out, rows});
        },
        [&](void* to) { product.gather(packed.data, rows, columns, block.reversed_rows.data(), rows, to); });
}

// A level table product: of one table, or of one a row, `row_levels` levels behind that of the row before.
void check_table_product(const Kernels& table, const LevelTableProduct& product, const char* name,
                         const std::vector<int8_t>& levels, size_t row_levels, const Block& block,
                         const QuantizedActivations& activations, const Epilogue& epilogue) {
    const size_t bytes = product.packed_bytes(rows, columns);
    AlignedBytes packed(bytes), gathered(bytes);
    product.pack(block.level_codes.data(), block.scales.data(), levels.data(), rows, columns, packed.data);
    const std::vector<int8_t> weight =
        reference::decode_levels(block.level_codes.data(), levels.data(), row_levels, rows, columns);
    std::vector<float> expected(count * rows);
    reference::integer_product(weight.data(), block.scales.data(), rows, columns, activations, count, epilogue,
                               expected.data());
    compare_bits(
        table, name, block, epilogue, expected, packed, gathered,
        [&](const void* from, size_t part, const Epilogue& each, float* out) {
            product.multiply(from, rows, columns, activations, part, each, {out, rows});
        },
        [&](void* to) { product.gather(packed.data, rows, columns, block.reversed_rows.data(), rows, to); });
}

void check_bit_plane_product(const Kernels& table, const Block& block, const QuantizedActivations& activations,
                             const Epilogue& epilogue, size_t bits) {
    const BitPlaneProduct& product = table.bit_plane_product;
    const size_t bytes = product.packed_bytes(rows, columns, bits);
    AlignedBytes packed(bytes), gathered(bytes);
    product.pack(block.planes.data(), block.alphas.data(), rows, columns, bits, packed.data);
    std::vector<float> expected(count * rows);
    reference::bit_plane_product(block.planes.data(), block.alphas.data(), rows, columns, bits, activations, count,
                                 epilogue, expected.data());
    compare_bits(
        table, "bit plane product", block, epilogue, expected, packed, gathered,
        [&](const void* from, size_t part, const Epilogue& each, float* out) {
            product.multiply(from, rows, columns, bits, activations, part, each, {out, rows});
        },
        [&](void* to) { product.gather(packed.data, rows, columns, bits, block.reversed_rows.data(), rows, to); });
}

// Codes of activations on a grid, among them the lowest, which dynamic quantization never gives.
Quantized check_grid(const Kernels& table, const Block& block) {
    const float offset = 0.25f, scale = 0.0078125f, inverse = 128.0f;
    const Grid grid{&offset, &scale, &inverse, 1, 128.0f};
    Quantized quantized, expected;
    const float* x = block.activations.data();
    table.grid.codes(grid, x, columns, count, columns, quantized.codes.data(), quantized.stride);
    for (size_t i = 0; i < count * columns; ++i) {
        const float code = std::nearbyint(std::clamp((x[i] - offset) * inverse, -128.0f, 127.0f));
        expected.codes[i / columns * quantized.stride + i % columns] = static_cast<int8_t>(code);
    }
    if (quantized.codes != expected.codes) refuse(table, "trained range");
    quantized.scales.assign(count, scale);
    return quantized;
}

}  // namespace

void check_kernels(const Kernels& table) {
    const Block block;
    check_float_product(table, block);
    const Quantized dynamic = check_quantization(table, block), on_grid = check_grid(table, block);
    check_static_quantization(table, block);
    check_logarithmic_quantization(table, block);
    const Epilogue plain{block.bias.data(), true}, with_offsets{block.bias.data(), false, block.offsets.data()};
    for (const QuantizedActivations& input : {dynamic.view(), on_grid.view()}) {
        for (const Epilogue& each : {plain, with_offsets}) {
            check_integer_product(table, table.integer_product, "8-bit product", block.codes, block, input, each);
            check_integer_product(table, table.six_bit_product, "6-bit product", block.six_bit_weights, block, input,
                                  each);
            check_table_product(table, table.level_table_product, "4-bit level table product", block.levels, 0, block,
                                input, each);
            check_table_product(table, table.row_table_product, "row level table product", block.row_levels, 16, block,
                                input, each);
        }
        for (size_t bits = 1; bits <= largest_plane_bits; ++bits)
            check_bit_plane_product(table, block, input, bits % 2 == 0 ? plain : with_offsets, bits);
    }
}

}  // namespace pocketmt
