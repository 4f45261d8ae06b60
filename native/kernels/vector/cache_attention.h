// Attention of one query to the rows of a decoder's cache, which hypotheses of a beam share. Pointers give each
// position's row of keys and row of values.
#pragma once

#include "vector/attention.h"

namespace pocketmt {
namespace {

// Dot products of one head's query with four keys, in the order of sum_of_lanes.
POCKETMT_INLINE Float4 four_scores(const float* query, const float* const* keys, size_t column, size_t head_size) {
    Floats a{}, b{}, c{}, d{};
    for_lanes(head_size, [&](size_t depth, auto load, auto) POCKETMT_INLINE_LAMBDA {
        const Floats q = load(query + depth);
        a += q * load(keys[0] + column + depth);
        b += q * load(keys[1] + column + depth);
        c += q * load(keys[2] + column + depth);
        d += q * load(keys[3] + column + depth);
    });
    return sums_of_lanes(a, b, c, d);
}

inline void cache_scores(const float* query, const float* const* keys, size_t positions, size_t heads, size_t head_size,
                         size_t padded_positions, float* scores) {
    for (size_t position = 0; position < positions; position += 4) {
        const float* four[4];  // The last position is repeated if there are fewer.
        for (size_t i = 0; i < 4; ++i) four[i] = keys[smaller(position + i, positions - 1)];
        for (size_t head = 0; head < heads; ++head) {
            const size_t column = head * head_size;
            store(scores + head * padded_positions + position, four_scores(query + column, four, column, head_size));
        }
    }
}

// Computes `blocks` of 16 columns, from `column` on, of one head or of heads whose size is a multiple of 16.
template <size_t blocks>
POCKETMT_INLINE void cache_values(const float* const* values, size_t positions, size_t column, size_t head_size,
                                  size_t padded_positions, const float* weights, float* out) {
    const float* head_weights[blocks];
    for (size_t block = 0; block < blocks; ++block) {
        head_weights[block] = weights + (column + block * lanes) / head_size * padded_positions;
    }
    Floats sums[blocks] = {};
    for (size_t position = 0; position < positions; ++position) {
        const float* value = values[position] + column;
        unrolled<blocks>([&](auto block) POCKETMT_INLINE_LAMBDA {
            sums[block()] += broadcast(head_weights[block()][position]) * load(value + block() * lanes);
        });
    }
    for (size_t block = 0; block < blocks; ++block) store(out + column + block * lanes, sums[block]);
}

// Computes the last columns of a head whose size is no multiple of 16.
inline void cache_values_rest(const float* const* values, size_t positions, size_t column, size_t rest,
                              const float* weights, float* out) {
    Floats sum{};
    for (size_t position = 0; position < positions; ++position) {
        sum += broadcast(weights[position]) * load_first(values[position] + column, rest);
    }
    store_first(out + column, rest, sum);
}

inline void attend_cache(const float* query, const float* const* keys, const float* const* values, size_t positions,
                         size_t heads, size_t head_size, float* scores, float* out) {
    const size_t padded = round_up(positions, lanes);
    cache_scores(query, keys, positions, heads, head_size, padded, scores);
    for (size_t head = 0; head < heads; ++head) {
        float* weights = scores + head * padded;
        const Floats inverse_total = broadcast(softmax_numerators(weights, positions, score_factor(head_size)));
        for (size_t position = 0; position < padded; position += lanes) {
            store(weights + position, load(weights + position) * inverse_total);
        }
    }
    const auto sum_columns = [&](size_t first, size_t blocks) {
        for_blocks<1>(blocks, [&](auto group, size_t block) POCKETMT_INLINE_LAMBDA {
            cache_values<group()>(values, positions, first + block * lanes, head_size, padded, scores, out);
        });
    };
    const size_t rest = head_size % lanes;
    if (rest == 0) return sum_columns(0, heads * head_size / lanes);
    for (size_t head = 0; head < heads; ++head) {
        const size_t column = head * head_size;
        sum_columns(column, head_size / lanes);
        cache_values_rest(values, positions, column + head_size - rest, rest, scores + head * padded, out);
    }
}

}  // namespace
}  // namespace pocketmt
