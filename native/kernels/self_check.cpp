// The check of every product before the first translation: a wrong kernel would write fluent nonsense.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels.h"
#include "reference.h"
#include "shapes.h"

namespace pocketmt {

namespace {

// More than one panel, with a remainder of outputs and inputs.
constexpr size_t rows = 77;
constexpr size_t columns = 101;
// Inputs without a remainder, of which 8-bit weights are checked too.
constexpr size_t whole_columns = activation_alignment;

class Numbers {  // xorshift: the same numbers everywhere.
  public:
    // From -127 to 127.
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

// Weights of every family, activations, and epilogues with the arrays of the rows in order and in reverse.
struct Block {
    std::vector<float> weight, scales, bias, offsets, reversed_bias, reversed_offsets, alphas, activations;
    std::vector<uint32_t> reversed_rows;
    std::vector<int8_t> integers, six_bit_integers, levels;
    std::vector<uint8_t> codes;

    Block()
        : weight(rows * columns),
          scales(rows),
          bias(rows),
          offsets(rows),
          alphas(rows * most_binary_code_bits),
          activations(most_checked_rows * columns),
          integers(rows * columns),
          six_bit_integers(rows * columns),
          levels(rows * 16),
          codes(rows * ceil_divide(columns, 2)) {
        Numbers numbers;
        for (std::vector<float>* values : {&weight, &bias, &offsets, &alphas, &activations}) {
            for (float& value : *values) value = numbers.next_float();
        }
        for (float& value : scales) value = std::fabs(numbers.next_float()) + 0.01f;
        for (int8_t& value : integers) value = static_cast<int8_t>(numbers.next());
        for (int8_t& value : six_bit_integers) value = static_cast<int8_t>((numbers.next() & 63) - 32);
        for (int8_t& value : levels) value = static_cast<int8_t>(numbers.next());
        for (uint8_t& value : codes) value = static_cast<uint8_t>(numbers.next() + 127);
        reversed_bias.assign(bias.rbegin(), bias.rend());
        reversed_offsets.assign(offsets.rbegin(), offsets.rend());
        for (size_t row = rows; row-- > 0;) reversed_rows.push_back(static_cast<uint32_t>(row));
    }

    UnpackedWeights weights(ProductFamily family) const {
        const bool six_bit = family == ProductFamily::six_bit, binary_code = family == ProductFamily::binary_code;
        return {.floats = weight.data(),
                .integers = six_bit ? six_bit_integers.data() : integers.data(),
                .codes = codes.data(),
                .levels = levels.data(),
                .scales = binary_code ? alphas.data() : scales.data()};
    }
    // The same for the rows in reverse.
    Epilogue reversed(const Epilogue& epilogue) const {
        return {epilogue.bias ? reversed_bias.data() : nullptr, epilogue.activation,
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

// Whether the first `checked` rows of two products agree. Sums of integers must have the same bits. Sequential
// summation of fp32 products and a bias has an error of at most (columns + 2) eps sum|a w|, and |a|, |w|, |bias| <= 2.
bool agree(const Product& product, const std::vector<float>& found, const std::vector<float>& expected,
           size_t checked) {
    if (product.quantized_input) return std::memcmp(found.data(), expected.data(), checked * rows * sizeof(float)) == 0;
    constexpr float bound = (columns + 2) * FLT_EPSILON * (columns * 4.0f + 2.0f);
    return std::equal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(checked * rows), expected.begin(),
                      [](float a, float b) { return std::fabs(a - b) <= bound; });
}

// Compares one row, some and all rows, which take different paths, with the reference; then all with the matrix's rows
// gathered in reverse, which must have the same bits.
void check_product(const Kernels& table, ProductFamily family, const MatrixShape& shape, const Block& block,
                   const QuantizedActivations& activations, const Epilogue& epilogue) {
    const Product& product = table.product(family);
    const size_t count = table.checked_rows;
    const UnpackedWeights weights = block.weights(family);
    AlignedBytes packed(product.packed_bytes(shape)), gathered(product.packed_bytes(shape));
    product.pack(weights, shape, packed.data);
    ProductInput input{.count = count};
    if (product.quantized_input) {
        input.quantized = activations;
    } else {
        input.floats = block.activations.data();
        input.float_stride = columns;
    }
    std::vector<float> expected(count * rows), found(count * rows), reversed(count * rows);
    reference::multiply(family, weights, shape, input, epilogue, expected.data());
    for (const size_t part : {size_t{1}, few_checked_rows, count}) {
        input.count = part;
        product.multiply({packed.data, shape}, input, epilogue, {found.data(), rows});
        if (!agree(product, found, expected, part)) refuse(table, product.name);
    }
    product.gather({packed.data, shape}, block.reversed_rows.data(), rows, gathered.data);
    product.multiply({gathered.data, shape}, input, block.reversed(epilogue), {reversed.data(), rows});
    for (size_t row = 0; row < count; ++row) std::reverse(found.data() + row * rows, found.data() + (row + 1) * rows);
    if (std::memcmp(found.data(), reversed.data(), found.size() * sizeof(float)) != 0) refuse(table, product.name);
}

struct Quantized {
    std::vector<int8_t> codes;
    std::vector<float> scales;
    static constexpr size_t stride = round_up(columns, activation_alignment);

    explicit Quantized(size_t count) : codes(count * stride), scales(count) {}
    QuantizedActivations view() const { return {codes.data(), scales.data(), stride}; }
    // Rows of whole_columns, of the same codes.
    QuantizedActivations whole_view() const { return {codes.data(), scales.data(), whole_columns}; }
    bool operator==(const Quantized&) const = default;
};

Quantized check_quantization(const Kernels& table, const Block& block) {
    const size_t count = table.checked_rows;
    Quantized quantized(count), expected(count);
    const float* x = block.activations.data();
    table.vector.quantize_rows(x, columns, count, columns, quantized.codes.data(), quantized.scales.data(),
                               quantized.stride);
    reference::quantize_rows(x, count, columns, expected.codes.data(), expected.scales.data(), expected.stride);
    if (quantized != expected) refuse(table, "activation quantization");
    return quantized;
}

void check_static_quantization(const Kernels& table, const Block& block) {
    constexpr float inverse = 80.0f;  // Activations are from -2 to 2, so that some are clamped.
    const size_t count = table.checked_rows;
    Quantized quantized(count), expected(count);
    const float* x = block.activations.data();
    table.vector.quantize_rows_static(x, columns, count, columns, inverse, quantized.codes.data(), quantized.stride);
    reference::quantize_rows_static(x, count, columns, inverse, expected.codes.data(), expected.stride);
    if (quantized != expected) refuse(table, "activation quantization at a given scale");
}

void check_logarithmic_quantization(const Kernels& table, const Block& block) {
    constexpr float top = 128.0f, scale = 1.25f;
    const size_t count = table.checked_rows;
    Quantized quantized(count), expected(count);
    const float* x = block.activations.data();
    table.vector.quantize_rows_logarithmic(x, columns, count, columns, top, scale, quantized.codes.data(),
                                           quantized.scales.data(), quantized.stride);
    reference::quantize_rows_logarithmic(x, count, columns, top, scale, expected.codes.data(), expected.scales.data(),
                                         expected.stride);
    if (quantized != expected) refuse(table, "activation log quantization");
}

// Codes of a trained range, among them the lowest code, which the quantization of rows never gives.
Quantized check_trained_range(const Kernels& table, const Block& block) {
    const float offset = 0.25f, scale = 0.0078125f, inverse = 128.0f;
    const QuantizationParameters parameters{&offset, &scale, &inverse, 1, 128.0f};
    const size_t count = table.checked_rows;
    Quantized quantized(count), expected(count);
    const float* x = block.activations.data();
    table.fake_quantization.quantize(parameters, x, columns, count, columns, quantized.codes.data(), quantized.stride);
    for (size_t i = 0; i < count * columns; ++i) {
        const float code = std::nearbyint(std::clamp((x[i] - offset) * inverse, -128.0f, 127.0f));
        expected.codes[i / columns * quantized.stride + i % columns] = static_cast<int8_t>(code);
    }
    if (quantized != expected) refuse(table, "trained range");
    quantized.scales.assign(count, scale);
    return quantized;
}

// The same codes without the negative ones, as after relu, which some products multiply in another way.
Quantized after_relu(Quantized quantized) {
    for (int8_t& code : quantized.codes) code = std::max<int8_t>(code, 0);
    return quantized;
}

}  // namespace

void check_kernels(const Kernels& table) {
    const Block block;
    const Quantized dynamic = check_quantization(table, block), in_range = check_trained_range(table, block),
                    positive = after_relu(dynamic);
    check_static_quantization(table, block);
    check_logarithmic_quantization(table, block);
    const Epilogue with_relu{block.bias.data(), Activation::relu},
        with_offsets{block.bias.data(), Activation::none, block.offsets.data()};
    for (size_t index = 0; index < product_family_count; ++index) {
        const ProductFamily family = static_cast<ProductFamily>(index);
        const bool quantized = table.product(family).quantized_input,
                   binary_code = family == ProductFamily::binary_code;
        for (size_t bits = 1; bits <= (binary_code ? most_binary_code_bits : 1); ++bits) {
            const MatrixShape shape{rows, columns, bits};
            for (const Epilogue& epilogue : {with_relu, with_offsets}) {
                check_product(table, family, shape, block, dynamic.view(), epilogue);
                if (quantized) check_product(table, family, shape, block, in_range.view(), epilogue);
            }
            if (quantized && !binary_code) check_product(table, family, shape, block, positive.view(), with_relu);
        }
    }
    check_product(table, ProductFamily::integer, {rows, whole_columns}, block, dynamic.whole_view(), with_relu);
}

}  // namespace pocketmt
