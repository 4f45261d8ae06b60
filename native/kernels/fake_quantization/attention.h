// Attention with integer products (Prato et al. 2020, section 3.2): codes of queries times codes of keys, and codes of
// the softmax's output times codes of values. The sums are exact; docs/reference/model-file.md lists every step that
// rounds.
#pragma once

#include "fake_quantization/rows.h"
#include "product.h"
#include "vector/elementwise.h"
#include "vector/exponential.h"

namespace pocketmt {
namespace {

// A query's codes, and the factors that turn sums into scores: sum(query * key) * scale + sum(key) * key_weight. Terms
// that are the same for all positions are left out, because the softmax does not change with them.
struct QueryCodes {
    const int8_t* codes;
    float scale;
    float key_weight;
};

// Where each element has its own range, the query is multiplied by the keys' scales and then quantized again, because
// sum_c q_c (k_c scale_c) = sum_c (q_c scale_c) k_c.
inline QueryCodes query_codes(const AttentionQuantization& quantization, const float* query, size_t head,
                              size_t head_size, float* scaled, int8_t* codes) {
    const float factor = 1.0f / __builtin_sqrtf(static_cast<float>(head_size));
    if (quantization.query.per_tensor()) {
        write_codes(quantization.query, query, head_size, codes);
        return {codes, quantization.query.scales[0] * quantization.key.scales[0] * factor,
                quantization.query.offsets[0] * quantization.key.scales[0] * factor};
    }
    const size_t first = head * head_size;
    const QuantizationParameters own{quantization.query.offsets + first, quantization.query.scales + first,
                                     quantization.query.inverses + first, head_size, quantization.query.half};
    __builtin_memcpy(scaled, query, head_size * sizeof(float));
    fake_quantize_row(own, head_size, scaled);
    const float* key_scales = quantization.key.scales + first;
    for_lanes(head_size, [&](size_t i, auto load, auto store)
                             POCKETMT_INLINE_LAMBDA { store(scaled + i, load(scaled + i) * load(key_scales + i)); });
    float scale;
    quantize_row(scaled, head_size, codes, &scale, round_up(head_size, activation_alignment));
    return {codes, scale * factor, 0.0f};
}

inline void code_scores(const QueryCodes& query, const int8_t* const* keys, size_t positions, size_t first,
                        size_t head_size, float* scores) {
    for (size_t position = 0; position < positions; ++position) {
        const int8_t* key = keys[position] + first;
        int32_t products = 0, total = 0;
        for (size_t i = 0; i < head_size; ++i) products += query.codes[i] * key[i];
        for (size_t i = 0; i < head_size; ++i) total += key[i];
        scores[position] = static_cast<float>(products) * query.scale + static_cast<float>(total) * query.key_weight;
    }
}

// Turns scores into a softmax whose numerators are fake-quantized.
inline void quantized_softmax(const AttentionQuantization& quantization, size_t positions, float* scores) {
    const size_t padded = round_up(positions, lanes);
    for (size_t position = positions; position < padded; ++position) scores[position] = -__builtin_inff();
    Floats greatest = load(scores);
    for (size_t position = lanes; position < padded; position += lanes)
        greatest = maximum(greatest, load(scores + position));
    const Floats shift = broadcast(greatest_lane(greatest));
    for (size_t position = 0; position < padded; position += lanes)
        store(scores + position, exponential(load(scores + position) - shift));
    const Floats total = broadcast(sum_of_row(scores, padded));
    fake_quantize_if_present(quantization.numerator, positions, scores);
    for (size_t position = 0; position < padded; position += lanes)
        store(scores + position, load(scores + position) / total);
}

// Codes of the softmax's output: value = offset + code * scale.
struct WeightCodes {
    const int8_t* codes;
    float scale;
    float offset;
};

inline WeightCodes weight_codes(const AttentionQuantization& quantization, const float* weights, size_t positions,
                                int8_t* codes) {
    if (quantization.weight.present()) {
        write_codes(quantization.weight, weights, positions, codes);
        return {codes, quantization.weight.scales[0], quantization.weight.offsets[0]};
    }
    float scale;
    quantize_row(weights, positions, codes, &scale, round_up(positions, activation_alignment));
    return {codes, scale, 0.0f};
}

// Computes sum_j weight_j value_j for the elements of one head, which begin at `first`.
inline void code_values(const QuantizationParameters& parameters, const WeightCodes& weights,
                        const int8_t* const* values, size_t positions, size_t first, size_t head_size, int32_t* columns,
                        float* out) {
    int32_t* products = columns;
    int32_t* totals = columns + head_size;
    __builtin_memset(columns, 0, 2 * head_size * sizeof(int32_t));
    int32_t weight_total = 0;
    for (size_t position = 0; position < positions; ++position) {
        const int8_t* value = values[position] + first;
        const int32_t weight = weights.codes[position];
        weight_total += weight;
        for (size_t i = 0; i < head_size; ++i) products[i] += weight * value[i];
        for (size_t i = 0; i < head_size; ++i) totals[i] += value[i];
    }
    const float all = static_cast<float>(weight_total) * weights.scale + static_cast<float>(positions) * weights.offset;
    for (size_t i = 0; i < head_size; ++i) {
        const size_t element = parameters.per_tensor() ? 0 : first + i;
        const float sum =
            static_cast<float>(products[i]) * weights.scale + static_cast<float>(totals[i]) * weights.offset;
        out[i] = sum * parameters.scales[element] + all * parameters.offsets[element];
    }
}

inline void attend_codes(const AttentionQuantization& quantization, const float* query, const int8_t* const* keys,
                         const int8_t* const* values, size_t positions, size_t heads, size_t head_size,
                         const AttentionScratch& scratch, float* out) {
    const size_t padded = round_up(positions, activation_alignment);
    float* scaled = scratch.floats + padded;
    int8_t* own_codes = scratch.codes + padded;
    for (size_t head = 0; head < heads; ++head) {
        const size_t first = head * head_size;
        const QueryCodes codes = query_codes(quantization, query + first, head, head_size, scaled, own_codes);
        code_scores(codes, keys, positions, first, head_size, scratch.floats);
        quantized_softmax(quantization, positions, scratch.floats);
        const WeightCodes weights = weight_codes(quantization, scratch.floats, positions, scratch.codes);
        code_values(quantization.value, weights, values, positions, first, head_size, scratch.columns, out + first);
    }
}

}  // namespace
}  // namespace pocketmt
