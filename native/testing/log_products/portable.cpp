// Products of log codes for any CPU, in plain loops.
#include "testing/log_products/products.h"

namespace pocketmt::testing::portable {

namespace {

// Exponents are added, signs multiplied by an exclusive or, and the power is a shift ([L5], eq. 8).
int32_t product_of_codes(CodeWord a, CodeWord b, size_t index) {
    const CodeWord exponents = (a & exponent_bits) + (b & exponent_bits);
    const int32_t magnitude = largest_product >> (exponents >> (4 * index) & 15u);
    return ((a ^ b) >> (4 * index + 3) & 1u) != 0 ? -magnitude : magnitude;
}

int32_t product_of_words(CodeWord a, CodeWord b) {
    int32_t sum = 0;
    for (size_t index = 0; index < word_codes; ++index) sum += product_of_codes(a, b, index);
    return sum;
}

void multiply(const ExponentMatrix& weights, const CodeWord* activations, float scale, float* out) {
    const size_t steps = weights.steps();
    for (size_t row = 0; row < weights.rows; ++row) {
        const size_t panel = row / exponent_panel_outputs;
        const CodeWord* words = weights.words + panel * steps * exponent_panel_outputs + row % exponent_panel_outputs;
        int32_t sum = weights.padding();
        for (size_t step = 0; step < steps; ++step)
            sum += product_of_words(words[step * exponent_panel_outputs], activations[step]);
        out[row] = static_cast<float>(sum) * (scale * weights.scales[row]);
    }
}

void float_dots(const float* a, const float* b, size_t pairs, float* out) {
    for (size_t pair = 0; pair < pairs; ++pair, a += vector_size, b += vector_size) {
        float sum = 0.0f;
        for (size_t i = 0; i < vector_size; ++i) sum += a[i] * b[i];
        out[pair] = sum;
    }
}

void integer_dots(const int8_t* a, const int32_t* a_sums, const uint8_t* b, size_t pairs, float* out) {
    for (size_t pair = 0; pair < pairs; ++pair, a += vector_size, b += vector_size) {
        int32_t sum = -128 * a_sums[pair];
        for (size_t i = 0; i < vector_size; ++i) sum += a[i] * b[i];
        out[pair] = static_cast<float>(sum);
    }
}

void level_table_dots(const int8_t* a, const int32_t*, const uint8_t* b, const int8_t* levels, size_t pairs,
                      float* out) {
    constexpr size_t half = vector_size / 2;
    for (size_t pair = 0; pair < pairs; ++pair, a += vector_size, b += half) {
        int32_t sum = 0;
        for (size_t i = 0; i < half; ++i) sum += a[i] * levels[b[i] & 15] + a[half + i] * levels[b[i] >> 4];
        out[pair] = static_cast<float>(sum);
    }
}

void exponent_sum_dots(const CodeWord* a, const CodeWord* b, size_t pairs, float* out) {
    for (size_t pair = 0; pair < pairs; ++pair, a += vector_words, b += vector_words) {
        int32_t sum = 0;
        for (size_t word = 0; word < vector_words; ++word) sum += product_of_words(a[word], b[word]);
        out[pair] = static_cast<float>(sum);
    }
}

}  // namespace

const LogProducts log_products = {multiply, float_dots, integer_dots, level_table_dots, exponent_sum_dots};

}  // namespace pocketmt::testing::portable
