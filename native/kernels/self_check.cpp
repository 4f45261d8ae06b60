// One block through every product before the first translation: a wrong kernel writes fluent nonsense, so it must not
// start.
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
    std::vector<float> weight, scales, bias, activations;
    std::vector<int8_t> codes, levels;
    std::vector<uint8_t> level_codes;

    Block()
        : weight(rows * columns),
          scales(rows),
          bias(rows),
          activations(count * columns),
          codes(rows * columns),
          levels(16),
          level_codes(rows * ceil_divide(columns, 2)) {
        Numbers numbers;
        for (float& value : weight) value = numbers.next_float();
        for (float& value : scales) value = std::fabs(numbers.next_float()) + 0.01f;
        for (float& value : bias) value = numbers.next_float();
        for (float& value : activations) value = numbers.next_float();
        for (int8_t& value : codes) value = static_cast<int8_t>(numbers.next());
        for (int8_t& value : levels) value = static_cast<int8_t>(numbers.next());
        for (uint8_t& value : level_codes) value = static_cast<uint8_t>(numbers.next() + 127);
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

void check_float_product(const Kernels& table, const Block& block) {
    const FloatProduct& product = table.float_product;
    const Epilogue epilogue{block.bias.data(), false};
    AlignedBytes packed(product.packed_bytes(rows, columns));
    product.pack(block.weight.data(), rows, columns, packed.data);
    std::vector<float> out(count * rows), expected(count * rows);
    product.multiply(packed.data, rows, columns, block.activations.data(), columns, count, epilogue, out.data(), rows);
    reference::float_product(block.weight.data(), rows, columns, block.activations.data(), count, epilogue,
                             expected.data());
    for (size_t i = 0; i < out.size(); ++i) {
        // Sequential summation of `columns` products and a bias: |error| <= (columns + 2) eps sum|a w|, and |a|, |w|,
        // |bias| <= 2.
        const float bound = (columns + 2) * FLT_EPSILON * (columns * 4.0f + 2.0f);
        if (!(std::fabs(out[i] - expected[i]) <= bound)) refuse(table, "fp32 product");
    }
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

void compare_bits(const Kernels& table, const char* kernel, const std::vector<float>& out,
                  const std::vector<float>& expected) {
    if (std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)) != 0) refuse(table, kernel);
}

void check_integer_products(const Kernels& table, const Block& block, const QuantizedActivations& activations) {
    const Epilogue epilogue{block.bias.data(), true};
    std::vector<float> out(count * rows), expected(count * rows);

    const IntegerProduct& integer = table.integer_product;
    AlignedBytes packed(integer.packed_bytes(rows, columns));
    integer.pack(block.codes.data(), block.scales.data(), rows, columns, packed.data);
    integer.multiply(packed.data, rows, columns, activations, count, epilogue, out.data(), rows);
    reference::integer_product(block.codes.data(), block.scales.data(), rows, columns, activations, count, epilogue,
                               expected.data());
    compare_bits(table, "8-bit product", out, expected);

    const LevelTableProduct& level_table = table.level_table_product;
    AlignedBytes packed_levels(level_table.packed_bytes(rows, columns));
    level_table.pack(block.level_codes.data(), block.scales.data(), block.levels.data(), rows, columns,
                     packed_levels.data);
    const std::vector<int8_t> weight =
        reference::decode_levels(block.level_codes.data(), block.levels.data(), rows, columns);
    reference::integer_product(weight.data(), block.scales.data(), rows, columns, activations, count, epilogue,
                               expected.data());
    for (const size_t part : {size_t{1}, count}) {  // a single row and many take different ways
        level_table.multiply(packed_levels.data, rows, columns, activations, part, epilogue, out.data(), rows);
        if (std::memcmp(out.data(), expected.data(), part * rows * sizeof(float)) != 0)
            refuse(table, "4-bit level table product");
    }
}

}  // namespace

void check_kernels(const Kernels& table) {
    const Block block;
    check_float_product(table, block);
    const Quantized quantized = check_quantization(table, block);
    check_integer_products(table, block, quantized.view());
}

}  // namespace pocketmt
