// Attention whose two products are sums of whole numbers: codes of queries with codes of keys, codes of the softmax's
// output with codes of values (paper Q, section 3.2). Sums are exact; see docs/model-file.md for every rounded step.
#pragma once

#include "grid/rows.h"
#include "vector/elementwise.h"
#include "vector/exponential.h"

namespace pocketmt {
namespace {

// A query's codes and what takes sums with keys' codes to scores: sum(query * key) * scale + sum(key) * key_weight.
// What is the same for all positions is left out: the softmax takes no notice of it.
struct QueryCodes {
    const int8_t* codes;
    float scale;
    float key_weight;
};

// With a range for each element, the keys' scales go to the query (sum_c q_c (k_c scale_c) = sum_c (q_c scale_c) k_c),
// which then has codes of its own.
inline QueryCodes query_codes(const AttentionGrids& grids, const float* query, size_t head, size_t head_size,
                              float* scaled, int8_t* codes) {
    const float factor = 1.0f / __builtin_sqrtf(static_cast<float>(head_size));
    if (grids.query.uniform()) {
        code_row(grids.query, query, head_size, codes);
        return {codes, grids.query.scales[0] * grids.key.scales[0] * factor,
                grids.query.offsets[0] * grids.key.scales[0] * factor};
    }
    const size_t first = head * head_size;
    const Grid own{grids.query.offsets + first, grids.query.scales + first, grids.query.inverses + first, head_size,
                   grids.query.half};
    __builtin_memcpy(scaled, query, head_size * sizeof(float));
    snap_row(own, head_size, scaled);
    const float* key_scales = grids.key.scales + first;
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

// Scores to exponentials on the numerator's grid, over their sum.
inline void grid_softmax(const AttentionGrids& grids, size_t positions, float* scores) {
    const size_t padded = round_up(positions, lanes);
    for (size_t position = positions; position < padded; ++position) scores[position] = -__builtin_inff();
    Floats greatest = load(scores);
    for (size_t position = lanes; position < padded; position += lanes)
        greatest = maximum(greatest, load(scores + position));
    const Floats shift = broadcast(greatest_lane(greatest));
    for (size_t position = 0; position < padded; position += lanes)
        store(scores + position, exponential(load(scores + position) - shift));
    const Floats total = broadcast(sum_of_row(scores, padded));
    snap_where_present(grids.numerator, positions, scores);
    for (size_t position = 0; position < padded; position += lanes)
        store(scores + position, load(scores + position) / total);
}

// The softmax's output as codes: value = offset + code * scale.
struct WeightCodes {
    const int8_t* codes;
    float scale;
    float offset;
};

inline WeightCodes weight_codes(const AttentionGrids& grids, const float* weights, size_t positions, int8_t* codes) {
    if (grids.weight.present()) {
        code_row(grids.weight, weights, positions, codes);
        return {codes, grids.weight.scales[0], grids.weight.offsets[0]};
    }
    float scale;
    quantize_row(weights, positions, codes, &scale, round_up(positions, activation_alignment));
    return {codes, scale, 0.0f};
}

// sum_j weight_j value_j for the elements of one head, of which `first` is the first.
inline void code_values(const Grid& grid, const WeightCodes& weights, const int8_t* const* values, size_t positions,
                        size_t first, size_t head_size, int32_t* columns, float* out) {
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
        const size_t element = grid.uniform() ? 0 : first + i;
        const float sum =
            static_cast<float>(products[i]) * weights.scale + static_cast<float>(totals[i]) * weights.offset;
        out[i] = sum * grid.scales[element] + all * grid.offsets[element];
    }
}

inline void attend_codes(const AttentionGrids& grids, const float* query, const int8_t* const* keys,
                         const int8_t* const* values, size_t positions, size_t heads, size_t head_size,
                         const AttentionScratch& scratch, float* out) {
    const size_t padded = round_up(positions, activation_alignment);
    float* scaled = scratch.floats + padded;
    int8_t* own_codes = scratch.codes + padded;
    for (size_t head = 0; head < heads; ++head) {
        const size_t first = head * head_size;
        const QueryCodes codes = query_codes(grids, query + first, head, head_size, scaled, own_codes);
        code_scores(codes, keys, positions, first, head_size, scratch.floats);
        grid_softmax(grids, positions, scratch.floats);
        const WeightCodes weights = weight_codes(grids, scratch.floats, positions, scratch.codes);
        code_values(grids.value, weights, values, positions, first, head_size, scratch.columns, out + first);
    }
}

}  // namespace
}  // namespace pocketmt
