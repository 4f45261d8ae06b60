// Attention: softmax(q K^T / sqrt(head size)) V, one head at a time.
#pragma once

#include "vector/exponential.h"
#include "vector/lanes.h"
#include "vector_functions.h"

namespace pocketmt {
namespace {

// Number of sums of 16 lanes (rows times blocks) that are held in registers at once.
constexpr size_t tile_sums = Registers::lanes == 16 ? 8 : 4;

// Calls body(Constant<blocks>, first) for groups of 4, 2 and 1 of `count` blocks, as far as `rows` leave registers for
// them.
template <size_t rows, class Body>
POCKETMT_INLINE void for_blocks(size_t count, Body&& body) {
    size_t block = 0;
    if constexpr (rows * 4 <= tile_sums) {
        for (; block + 4 <= count; block += 4) body(Constant<4>{}, block);
    }
    if constexpr (rows * 2 <= tile_sums) {
        for (; block + 2 <= count; block += 2) body(Constant<2>{}, block);
    }
    for (; block < count; ++block) body(Constant<1>{}, block);
}

inline float score_factor(size_t head_size) {
    return 1.0f / __builtin_sqrtf(static_cast<float>(head_size));
}

// Turns dot products [padded positions] into unnormalized probabilities exp(factor * (x - max)) in place, 0 beyond
// `positions`. Returns 1 / their sum.
inline float softmax_numerators(float* scores, size_t positions, float factor) {
    const size_t padded = round_up(positions, lanes);
    for (size_t position = positions; position < padded; ++position) scores[position] = -__builtin_inff();
    Floats greatest = load(scores);
    for (size_t position = lanes; position < padded; position += lanes)
        greatest = maximum(greatest, load(scores + position));
    const Floats shift = broadcast(greatest_lane(greatest));
    const Floats factors = broadcast(factor);
    Floats total{};
    for (size_t position = 0; position < padded; position += lanes) {
        const Floats value = exponential((load(scores + position) - shift) * factors);
        store(scores + position, value);
        total += value;
    }
    return 1.0f / sum_of_lanes(total);
}

inline void transpose_keys(const float* keys, size_t key_stride, size_t positions, size_t heads, size_t head_size,
                           size_t padded_positions, float* out) {
    const size_t columns = heads * head_size;
    __builtin_memset(out, 0, columns * padded_positions * sizeof(float));
    size_t position = 0;
    for (; position + 4 <= positions; position += 4) {
        const float* row = keys + position * key_stride;
        for (size_t column = 0; column < columns; column += 4) {
            const Float4 a = load<Float4>(row + column), b = load<Float4>(row + key_stride + column);
            const Float4 c = load<Float4>(row + 2 * key_stride + column),
                         d = load<Float4>(row + 3 * key_stride + column);
            const Float4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                         ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
            const Float4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                         cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
            float* to = out + column * padded_positions + position;
            store(to, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
            store(to + padded_positions, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
            store(to + 2 * padded_positions, __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5));
            store(to + 3 * padded_positions, __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7));
        }
    }
    for (; position < positions; ++position) {
        for (size_t column = 0; column < columns; ++column) {
            out[column * padded_positions + position] = keys[position * key_stride + column];
        }
    }
}

// Attention of one head, for `rows` queries.
struct AttentionHead {
    const float* queries;
    size_t query_stride;
    const float* keys;    // [head_size, padded_positions]
    const float* values;  // [positions, value_stride]
    size_t value_stride;
    size_t value_head_step;  // To the values of the next head.
    size_t positions;
    size_t padded_positions;
    size_t head_size;
    float* scores;  // [rows, padded_positions]
    float* out;
    size_t out_stride;
};

// Asks for blocks of the next head, which come from memory if there are many sentences. They may lie past the last
// head.
template <size_t blocks>
POCKETMT_INLINE void prefetch_floats(const float* next) {
    unrolled<blocks>([&](auto block) POCKETMT_INLINE_LAMBDA { __builtin_prefetch(next + block() * lanes); });
}

// Computes dot products for blocks of 16 positions, without a sum across lanes.
template <size_t rows>
void head_scores(const AttentionHead& head) {
    for_blocks<rows>(ceil_divide(head.positions, lanes), [&](auto group, size_t first) POCKETMT_INLINE_LAMBDA {
        constexpr size_t blocks = group();
        Floats sums[rows][blocks] = {};
        for (size_t depth = 0; depth < head.head_size; ++depth) {
            const float* keys = head.keys + depth * head.padded_positions + first * lanes;
            prefetch_floats<blocks>(keys + head.head_size * head.padded_positions);
            unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
                const Floats query = broadcast(head.queries[row() * head.query_stride + depth]);
                unrolled<blocks>([&](auto block) POCKETMT_INLINE_LAMBDA {
                    sums[row()][block()] += query * load(keys + block() * lanes);
                });
            });
        }
        for (size_t row = 0; row < rows; ++row) {
            float* scores = head.scores + row * head.padded_positions + first * lanes;
            for (size_t block = 0; block < blocks; ++block) store(scores + block * lanes, sums[row][block]);
        }
    });
}

// Computes weighted sums of rows of values for `blocks` of 16 columns, from `column` on; `load` reads 16 of them.
template <size_t rows, size_t blocks, class Load>
POCKETMT_INLINE void head_sums(const AttentionHead& head, size_t column, Floats (&sums)[rows][blocks], Load&& load) {
    for (size_t position = 0; position < head.positions; ++position) {
        const float* values = head.values + position * head.value_stride + column;
        prefetch_floats<blocks>(values + head.value_head_step);
        unrolled<rows>([&](auto row) POCKETMT_INLINE_LAMBDA {
            const Floats weight = broadcast(head.scores[row() * head.padded_positions + position]);
            unrolled<blocks>([&](auto block) POCKETMT_INLINE_LAMBDA {
                sums[row()][block()] += weight * load(values + block() * lanes);
            });
        });
    }
}

template <size_t rows>
void head_values(const AttentionHead& head, const float* inverse_totals) {
    for_blocks<rows>(head.head_size / lanes, [&](auto group, size_t first) POCKETMT_INLINE_LAMBDA {
        constexpr size_t blocks = group();
        Floats sums[rows][blocks] = {};
        head_sums(head, first * lanes, sums, [](const float* from) POCKETMT_INLINE_LAMBDA { return load(from); });
        for (size_t row = 0; row < rows; ++row) {
            float* out = head.out + row * head.out_stride + first * lanes;
            for (size_t block = 0; block < blocks; ++block) {
                store(out + block * lanes, sums[row][block] * broadcast(inverse_totals[row]));
            }
        }
    });
    const size_t rest = head.head_size % lanes;
    if (rest == 0) return;
    Floats sums[rows][1] = {};
    head_sums(head, head.head_size - rest, sums, [rest](const float* from) { return load_first(from, rest); });
    for (size_t row = 0; row < rows; ++row) {
        float* out = head.out + row * head.out_stride + head.head_size - rest;
        store_first(out, rest, sums[row][0] * broadcast(inverse_totals[row]));
    }
}

template <size_t rows>
void attend_head(const AttentionHead& head) {
    float inverse_totals[rows];
    head_scores<rows>(head);
    for (size_t row = 0; row < rows; ++row) {
        inverse_totals[row] =
            softmax_numerators(head.scores + row * head.padded_positions, head.positions, score_factor(head.head_size));
    }
    head_values<rows>(head, inverse_totals);
}

inline void attend(const float* queries, size_t query_stride, size_t count, const KeysAndValues& source, size_t heads,
                   size_t head_size, float* scores, float* out, size_t out_stride) {
    for (size_t index = 0; index < heads; ++index) {
        const size_t column = index * head_size;
        AttentionHead head{queries + column,
                           query_stride,
                           source.keys + column * source.padded_positions,
                           source.values + index * source.value_head_step,
                           source.value_stride,
                           source.value_head_step,
                           source.positions,
                           source.padded_positions,
                           head_size,
                           scores,
                           out + column,
                           out_stride};
        size_t row = 0;
        const auto attend = [&](auto rows) {
            for (; row + rows() <= count; row += rows()) {
                attend_head<rows()>(head);
                head.queries += rows() * query_stride;
                head.out += rows() * out_stride;
            }
        };
        attend(Constant<attention_rows>{});
        attend(Constant<2>{});
        attend(Constant<1>{});
    }
}

}  // namespace
}  // namespace pocketmt
