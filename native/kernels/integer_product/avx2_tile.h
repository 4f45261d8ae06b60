// Register tile of integer products with AVX2: up to 3 rows of activations by one panel of 32 outputs, exact 32-bit
// sums. vpmaddubsw multiplies unsigned by signed bytes and adds pairs in 16 bits, which must not saturate.
#pragma once

#include "integer_product/avx2_operations.h"
#include "integer_product/call.h"

namespace pocketmt {
namespace {

constexpr size_t parts = panel_outputs / lanes;
constexpr size_t part_bytes = lanes * group_inputs;

// sum + pairs of 16-bit products.
POCKETMT_INLINE __m256i add_pairs(__m256i sum, __m256i pairs) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

// 32 weights of up to 8 bits with a sign, for activations in [-127, 127]: |weight| times activation with the weight's
// sign, of which two are at most 2 * 128 * 127.
struct SignedWeights {
    static constexpr int32_t zero = 0;
    __m256i weights, magnitudes;

    explicit SignedWeights(__m256i loaded) : weights(loaded), magnitudes(_mm256_abs_epi8(loaded)) {}
    POCKETMT_INLINE __m256i add(__m256i sum, __m256i four) const {
        return add_pairs(sum, _mm256_maddubs_epi16(magnitudes, _mm256_sign_epi8(four, weights)));
    }
};

// The same for any activations: -128 has no positive counterpart. Of four inputs the first and third, and the second
// and fourth, are multiplied as 16-bit numbers.
struct WordWeights {
    static constexpr int32_t zero = 0;
    __m256i even, odd;

    explicit WordWeights(__m256i loaded)
        : even(_mm256_srai_epi16(_mm256_slli_epi16(loaded, 8), 8)), odd(_mm256_srai_epi16(loaded, 8)) {}
    POCKETMT_INLINE __m256i add(__m256i sum, __m256i four) const {
        const WordWeights activations(four);
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(even, activations.even));
        return _mm256_add_epi32(sum, _mm256_madd_epi16(odd, activations.odd));
    }
};

// 8-bit weights: a step is 2 groups of 4 inputs by 4 registers of 8 outputs.
template <class Products = SignedWeights>
struct ByteWeights {
    using Loaded = Products;
    using OfAnyActivations = ByteWeights<WordWeights>;
    static constexpr size_t step_bytes = 2 * group_bytes;
    explicit ByteWeights(const IntegerCall&) {}
    template <size_t group, size_t part>
    POCKETMT_INLINE Loaded load(const uint8_t* step) const {
        const uint8_t* place = step + group * group_bytes + part * part_bytes;
        return Loaded(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(place)));
    }
};

// The operations of reference::integer_product. activation_sum: of the row's codes, where there are offsets.
POCKETMT_INLINE void store_sums(const IntegerCall& call, size_t row, int32_t activation_sum, size_t output,
                                __m256i sums) {
    if (output >= call.rows) return;
    const size_t valid = call.rows - output;
    const __m256 activation_scale = _mm256_set1_ps(call.activations.scales[row]);
    const __m256 scale = _mm256_mul_ps(activation_scale, _mm256_loadu_ps(call.weight_scales + output));
    __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), scale);
    value = add_offsets(call.epilogue, output, valid, activation_sum, activation_scale, value);
    store_outputs(call.epilogue, output, valid, value, call.out + row * call.out_stride + output);
}

template <size_t rows, class Weights>
void multiply_tile(const IntegerCall& call, const TileRange& range) {
    const Weights source(call);
    const size_t stride = call.activations.stride;
    const uint8_t* weights = range.weights;
    int32_t activation_sums[rows] = {};
    if (call.epilogue.offsets || Weights::Loaded::zero != 0)
        sum_rows(call.activations, range.first_row, call.steps * step_inputs, activation_sums);
    for (size_t panel = range.first_panel; panel < range.last_panel; ++panel) {
        __m256i sums[rows][parts];
        unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
            constexpr size_t row = index() / parts;
            sums[row][index() % parts] = _mm256_set1_epi32(-Weights::Loaded::zero * activation_sums[row]);
        });
        const int8_t* codes = call.activations.codes + range.first_row * stride;
        for (size_t step = 0; step < call.steps; ++step, weights += Weights::step_bytes, codes += step_inputs) {
            unrolled<2 * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
                constexpr size_t group = index() / parts, part = index() % parts;
                const typename Weights::Loaded loaded = source.template load<group, part>(weights);
                unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                    const __m256i four = broadcast_group(codes + row() * stride + group * group_inputs);
                    sums[row()][part] = loaded.add(sums[row()][part], four);
                });
            });
        }
        unrolled<rows * parts>([&](auto index) POCKETMT_INLINE_LAMBDA {
            constexpr size_t row = index() / parts, part = index() % parts;
            const size_t output = panel * panel_outputs + part * lanes;
            store_sums(call, range.first_row + row, activation_sums[row], output, sums[row][part]);
        });
    }
}

template <class Weights>
constexpr TileFunction tiles[] = {multiply_tile<1, Weights>, multiply_tile<2, Weights>,
                                  multiply_tile<highest_tile, Weights>};

template <class Weights>
inline const auto& tiles_for(const QuantizedActivations& activations) {
    return activations.lowest ? tiles<typename Weights::OfAnyActivations> : tiles<Weights>;
}

}  // namespace
}  // namespace pocketmt
