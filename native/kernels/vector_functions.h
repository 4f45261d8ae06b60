// Functions of vectors and rows: quantization of activations, normalization, attention, recurrent units, search.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pocketmt {

// Keys and values of one sentence and layer, for attention to all its positions (encoder self-attention and
// cross-attention). Keys are transposed in each head: [heads, head_size, padded_positions], where padded_positions is a
// multiple of 16. Values of a head are [positions, head_size].
struct KeysAndValues {
    const float* keys;
    const float* values;
    size_t value_stride;     // From one position's values to the next's.
    size_t value_head_step;  // From one head's values to the next's.
    size_t positions;
    size_t padded_positions;
};
// Number of queries that `attend` treats at once; each has a row of scratch.
constexpr size_t attention_rows = 4;

struct VectorFunctions {
    // Quantizes each row by its largest magnitude (Behnke et al. 2021, section 3.2). codes: [count, stride], zero from
    // `columns` on; scales: [count].
    void (*quantize_rows)(const float* x, size_t x_stride, size_t count, size_t columns, int8_t* codes, float* scales,
                          size_t stride);
    // Quantizes at a calibrated scale: code = x * inverse, rounded to the nearest, halves to even, at most 127 in
    // magnitude. codes: [count, stride], zero from `columns` on.
    void (*quantize_rows_static)(const float* x, size_t x_stride, size_t count, size_t columns, float inverse,
                                 int8_t* codes, size_t stride);
    // Quantizes to a fixed log scale (Aji and Heafield 2020, section 3.5). The magnitude of a code is the power of two
    // nearest to |x| * (top / scale), the lower one in the middle, from 1 to `top`, which is a power of two up to 128;
    // 128 is stored as 127. A code has the sign of x. Every scale is scale / top. codes: [count, stride], zero from
    // `columns` on.
    void (*quantize_rows_logarithmic)(const float* x, size_t x_stride, size_t count, size_t columns, float top,
                                      float scale, int8_t* codes, float* scales, size_t stride);
    // out = LN(x + residual) * gamma + beta; residual may be null; sum_out (x + residual) may be null. Rows are
    // contiguous. out and sum_out may each be x or residual, but not one another. The variance is biased; epsilon is
    // added to it.
    void (*layer_norm)(const float* x, const float* residual, const float* gamma, const float* beta, float epsilon,
                       size_t count, size_t columns, float* sum_out, float* out);
    // out = x * factor + y, element by element (embedding * sqrt(d) + position).
    void (*scale_add)(const float* x, float factor, const float* y, size_t size, float* out);
    // Activation functions, element by element: x sigmoid(x); x P(a standard normal number is below x), exactly
    // (Hendrycks and Gimpel 2016) and as approximated there by tanh and by sigmoid(1.702 x).
    void (*swish)(size_t size, float* x);
    void (*gelu)(size_t size, float* x);
    void (*gelu_tanh)(size_t size, float* x);
    void (*gelu_sigmoid)(size_t size, float* x);
    // [positions, key_stride] -> [heads, head_size, padded_positions], padded with zeros.
    void (*transpose_keys)(const float* keys, size_t key_stride, size_t positions, size_t heads, size_t head_size,
                           size_t padded_positions, float* out);
    // Attention of each query to every position. queries: [count, query_stride]; out: [count, out_stride]; scores:
    // scratch [attention_rows, padded_positions]. Scores are scaled by 1 / sqrt(head_size); head_size is a multiple
    // of 4.
    void (*attend)(const float* queries, size_t query_stride, size_t count, const KeysAndValues& source, size_t heads,
                   size_t head_size, float* scores, float* out, size_t out_stride);
    // Attention of one query [heads * head_size] to positions whose rows of keys and values are given by pointers: the
    // decoder's cache, whose rows hypotheses share. scores: scratch [heads, positions rounded up to 16].
    void (*attend_cache)(const float* query, const float* const* keys, const float* const* values, size_t positions,
                         size_t heads, size_t head_size, float* scores, float* out);
    // One position of a simpler simple recurrent unit (Kim et al. 2019). projected [2 size] is W x, then W_f x. With
    // f = sigmoid(W_f x + forget_bias): cell = f * cell_before + (1 - f) * W x, out = relu(cell). cell_before is null
    // at the first position.
    void (*recurrent_unit)(const float* projected, const float* forget_bias, const float* cell_before, size_t size,
                           float* cell, float* out);
    // mean = (before * count + x) / (count + 1), element by element: of x and the `count` vectors whose mean is
    // `before`, which is null if there are none.
    void (*running_mean)(const float* x, const float* before, size_t count, size_t size, float* mean);
    // out = sigmoid(x_gate) * x + sigmoid(y_gate) * y, element by element. out may be any of the inputs.
    void (*gated_sum)(const float* x_gate, const float* x, const float* y_gate, const float* y, size_t size,
                      float* out);
    // One position of an LSTM. given + recurrent, each [4 size], are the rows i, f, o and g;
    // cell = sigmoid(f) * cell_before + sigmoid(i) * tanh(g), hidden = sigmoid(o) * tanh(cell). recurrent and
    // cell_before are null at the first position. cell may be cell_before.
    void (*lstm_unit)(const float* given, const float* recurrent, const float* cell_before, size_t size, float* cell,
                      float* hidden);
    // log(sum(exp(x))); elements of -inf add nothing.
    float (*log_sum_exp)(const float* x, size_t size);
    // Merges x, the values of indices from `first` on, into a list of the k >= 1 largest values, best first. Equal
    // values keep their order. A list begins with values of -inf, which other values of -inf do not replace.
    void (*top_k)(const float* x, size_t size, uint32_t first, size_t k, uint32_t* indices, float* values);
};

}  // namespace pocketmt
