// Times the functions that the engine calls between products, each as it calls them, for benchmarks/between_products.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "model/runtime/buffer.h"
#include "testing/arrays.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

// Rows of activations, and keys and values of as many sentences. `copies` are taken in turn: many of them take more
// memory than a cache has.
struct Shape {
    size_t rows;
    size_t columns;
    size_t positions;
    size_t heads;
    size_t copies;
    size_t rounds;

    size_t size() const { return rows * columns; }
    size_t head_size() const { return columns / heads; }
    size_t padded_positions() const { return round_up(positions, 16); }
};

constexpr double least_seconds = 2e-4;  // Of a round.

// Seconds of call(copy), the mean over all copies, for each round.
template <class Call>
std::vector<double> time_calls(const Shape& shape, Call&& call) {
    const auto passed = [&](size_t passes) {
        const auto start = std::chrono::steady_clock::now();
        for (size_t pass = 0; pass < passes; ++pass) {
            for (size_t copy = 0; copy < shape.copies; ++copy) call(copy);
        }
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    passed(1);
    const auto passes = std::max<size_t>(1, static_cast<size_t>(least_seconds / std::max(passed(1), 1e-9)));
    std::vector<double> seconds(shape.rounds);
    for (double& each : seconds) each = passed(passes) / static_cast<double>(passes * shape.copies);
    return seconds;
}

// Floats from `least` to `greatest`, of which 65521 repeat: more than the logits of a row.
Buffer<float> random_floats(size_t count, float least = -1.0f, float greatest = 1.0f) {
    constexpr size_t different = 65521;
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> distribution(least, greatest);
    Buffer<float> values(count);
    for (size_t i = 0; i < count; ++i)
        values.data()[i] = i < different ? distribution(generator) : values.data()[i - different];
    return values;
}

using Seconds = std::vector<double>;
using Functions = const VectorFunctions&;

Seconds quantize_rows(Functions vector, const Shape& shape) {
    const size_t stride = round_up(shape.columns, 64);
    const auto x = random_floats(shape.size());
    Buffer<int8_t> codes(shape.rows * stride);
    Buffer<float> scales(shape.rows);
    return time_calls(shape, [&](size_t) {
        vector.quantize_rows(x.data(), shape.columns, shape.rows, shape.columns, codes.data(), scales.data(), stride);
    });
}

Seconds quantize_rows_static(Functions vector, const Shape& shape) {
    const size_t stride = round_up(shape.columns, 64);
    const auto x = random_floats(shape.size());
    Buffer<int8_t> codes(shape.rows * stride);
    return time_calls(shape, [&](size_t) {
        vector.quantize_rows_static(x.data(), shape.columns, shape.rows, shape.columns, 127.0f, codes.data(), stride);
    });
}

Seconds quantize_rows_logarithmic(Functions vector, const Shape& shape) {
    const size_t stride = round_up(shape.columns, 64);
    const auto x = random_floats(shape.size());
    Buffer<int8_t> codes(shape.rows * stride);
    Buffer<float> scales(shape.rows);
    return time_calls(shape, [&](size_t) {
        vector.quantize_rows_logarithmic(x.data(), shape.columns, shape.rows, shape.columns, 128.0f, 1.0f, codes.data(),
                                         scales.data(), stride);
    });
}

// With the residual, in whose place the result is written.
Seconds layer_norm(Functions vector, const Shape& shape) {
    const auto update = random_floats(shape.size()), gamma = random_floats(shape.columns),
               beta = random_floats(shape.columns);
    auto x = random_floats(shape.size());
    return time_calls(shape, [&](size_t) {
        vector.layer_norm(update.data(), x.data(), gamma.data(), beta.data(), 1e-5f, shape.rows, shape.columns, nullptr,
                          x.data());
    });
}

// Rows of 8-bit embeddings, chosen at random, with their positions added.
Seconds embed(const Kernels& kernels, const Shape& shape) {
    constexpr size_t pieces = 32000;
    const Product& product = kernels.product(ProductFamily::integer);
    const MatrixShape matrix{pieces, shape.columns};
    Buffer<int8_t> weights(pieces * shape.columns);
    for (size_t i = 0; i < pieces * shape.columns; ++i) weights.data()[i] = static_cast<int8_t>(i % 255 - 127);
    const std::vector<float> scales(pieces, 0.01f);
    Buffer<std::byte> packed(product.packed_bytes(matrix));
    product.pack({.integers = weights.data(), .scales = scales.data()}, matrix, packed.data());
    const auto position = random_floats(shape.columns);
    Buffer<float> out(shape.size());
    std::minstd_rand chosen(1);
    return time_calls(shape, [&](size_t) {
        for (size_t row = 0; row < shape.rows; ++row) {
            float* x = out.data() + row * shape.columns;
            product.unpack_row({packed.data(), matrix}, chosen() % pieces, x);
            kernels.vector.scale_add(x, 22.6f, position.data(), shape.columns, x);
        }
    });
}

Seconds scale_add(Functions vector, const Shape& shape) {
    const auto x = random_floats(shape.size()), position = random_floats(shape.columns);
    Buffer<float> out(shape.size());
    return time_calls(shape, [&](size_t) {
        for (size_t row = 0; row < shape.rows; ++row) {
            const size_t start = row * shape.columns;
            vector.scale_add(x.data() + start, 22.6f, position.data(), shape.columns, out.data() + start);
        }
    });
}

// In place, of numbers that every activation function keeps: others would become subnormal, which takes longer.
template <void (*VectorFunctions::*function)(size_t, float*)>
Seconds activate(Functions vector, const Shape& shape) {
    auto x = random_floats(shape.size(), 17.0f, 20.0f);
    return time_calls(shape, [&](size_t) { (vector.*function)(shape.size(), x.data()); });
}

Seconds transpose_keys(Functions vector, const Shape& shape) {
    const size_t columns = shape.columns, padded = shape.padded_positions();
    const auto keys = random_floats(shape.size() * shape.positions * 2);
    Buffer<float> out(shape.size() * padded);
    return time_calls(shape, [&](size_t) {
        for (size_t row = 0; row < shape.rows; ++row) {
            vector.transpose_keys(keys.data() + row * shape.positions * 2 * columns, 2 * columns, shape.positions,
                                  shape.heads, shape.head_size(), padded, out.data() + row * columns * padded);
        }
    });
}

// Of `queries` positions of each sentence to its keys and values.
Seconds attend(Functions vector, const Shape& shape, size_t queries) {
    const size_t columns = shape.columns, padded = shape.padded_positions(), keys = columns * padded;
    const size_t of_sentence = keys + columns * shape.positions;
    const auto cache = random_floats(shape.copies * shape.rows * of_sentence);
    const auto x = random_floats(shape.size() * queries);
    Buffer<float> scores(attention_rows * padded), out(shape.size() * queries);
    return time_calls(shape, [&](size_t copy) {
        for (size_t row = 0; row < shape.rows; ++row) {
            const float* sentence = cache.data() + (copy * shape.rows + row) * of_sentence;
            const KeysAndValues source{sentence,          sentence + keys,
                                       shape.head_size(), shape.positions * shape.head_size(),
                                       shape.positions,   padded};
            const size_t start = row * queries * columns;
            vector.attend(x.data() + start, columns, queries, source, shape.heads, shape.head_size(), scores.data(),
                          out.data() + start, columns);
        }
    });
}

Seconds attend_once(Functions vector, const Shape& shape) {
    return attend(vector, shape, 1);
}
Seconds attend_beam(Functions vector, const Shape& shape) {
    return attend(vector, shape, attention_rows);
}
Seconds attend_everywhere(Functions vector, const Shape& shape) {
    return attend(vector, shape, shape.positions);
}

// To states [positions, 2 columns] of each row.
Seconds attend_cache(Functions vector, const Shape& shape) {
    const size_t columns = shape.columns, of_row = shape.positions * 2 * columns;
    const auto cache = random_floats(shape.copies * shape.rows * of_row), queries = random_floats(shape.size());
    Buffer<float> scores(shape.heads * shape.padded_positions()), out(shape.size());
    std::vector<const float*> keys(shape.positions), values(shape.positions);
    return time_calls(shape, [&](size_t copy) {
        for (size_t row = 0; row < shape.rows; ++row) {
            const float* states = cache.data() + (copy * shape.rows + row) * of_row;
            for (size_t i = 0; i < shape.positions; ++i) {
                keys[i] = states + i * 2 * columns;
                values[i] = keys[i] + columns;
            }
            vector.attend_cache(queries.data() + row * columns, keys.data(), values.data(), shape.positions,
                                shape.heads, shape.head_size(), scores.data(), out.data() + row * columns);
        }
    });
}

Seconds recurrent_unit(Functions vector, const Shape& shape) {
    const size_t columns = shape.columns;
    const auto projected = random_floats(2 * shape.size()), bias = random_floats(columns),
               before = random_floats(shape.size());
    Buffer<float> cell(shape.size()), out(shape.size());
    return time_calls(shape, [&](size_t) {
        for (size_t row = 0; row < shape.rows; ++row) {
            const size_t start = row * columns;
            vector.recurrent_unit(projected.data() + 2 * start, bias.data(), before.data() + start, columns,
                                  cell.data() + start, out.data() + start);
        }
    });
}

Seconds running_mean(Functions vector, const Shape& shape) {
    const auto x = random_floats(shape.size()), before = random_floats(shape.size());
    Buffer<float> mean(shape.size());
    return time_calls(shape, [&](size_t) {
        for (size_t row = 0; row < shape.rows; ++row) {
            const size_t start = row * shape.columns;
            vector.running_mean(x.data() + start, before.data() + start, shape.positions, shape.columns,
                                mean.data() + start);
        }
    });
}

Seconds gated_sum(Functions vector, const Shape& shape) {
    const auto x_gate = random_floats(shape.size()), x = random_floats(shape.size()),
               y_gate = random_floats(shape.size());
    auto y = random_floats(shape.size());
    return time_calls(shape, [&](size_t) {
        vector.gated_sum(x_gate.data(), x.data(), y_gate.data(), y.data(), shape.size(), y.data());
    });
}

Seconds lstm_unit(Functions vector, const Shape& shape) {
    const auto given = random_floats(4 * shape.size()), recurrent = random_floats(4 * shape.size());
    auto cell = random_floats(shape.size());
    Buffer<float> hidden(shape.size());
    return time_calls(shape, [&](size_t) {
        for (size_t row = 0; row < shape.rows; ++row) {
            const size_t start = row * shape.columns;
            vector.lstm_unit(given.data() + 4 * start, recurrent.data() + 4 * start, cell.data() + start, shape.columns,
                             cell.data() + start, hidden.data() + start);
        }
    });
}

// Outputs searched at a time, and most logits that are computed at once (native/search/pieces/next_pieces.cpp).
constexpr size_t slice_outputs = 2048;
constexpr size_t most_logits = 64 * slice_outputs;

// search(row, logits, first, size) of each slice of each row's logits [columns]. Of many rows a slice is in memory, as
// while the engine multiplies: each row takes the others' in turn.
template <class Search>
Seconds search_slices(const Shape& shape, Search&& search) {
    const size_t width = shape.size() > most_logits ? slice_outputs : shape.columns;
    const auto logits = random_floats(shape.rows * width);
    return time_calls(shape, [&](size_t) {
        for (size_t first = 0; first < shape.columns; first += slice_outputs) {
            const size_t size = std::min(slice_outputs, shape.columns - first), slice = first / slice_outputs;
            for (size_t row = 0; row < shape.rows; ++row) {
                const size_t taken = width == shape.columns ? row : (row + slice) % shape.rows;
                search(row, logits.data() + taken * width + first % width, first, size);
            }
        }
    });
}

Seconds log_sum_exp(Functions vector, const Shape& shape) {
    Buffer<float> sums(shape.rows);
    return search_slices(shape, [&](size_t row, const float* logits, size_t, size_t size) {
        sums.data()[row] = vector.log_sum_exp(logits, size);
    });
}

template <size_t k>
Seconds top_k(Functions vector, const Shape& shape) {
    Buffer<uint32_t> indices(shape.rows * k);
    Buffer<float> values(shape.rows * k);
    return search_slices(shape, [&](size_t row, const float* logits, size_t first, size_t size) {
        float* found = values.data() + row * k;
        if (first == 0) std::fill_n(found, k, -std::numeric_limits<float>::infinity());
        vector.top_k(logits, size, static_cast<uint32_t>(first), k, indices.data() + row * k, found);
    });
}

const std::map<std::string, Seconds (*)(Functions, const Shape&)> functions = {
    {"quantize_rows", quantize_rows},
    {"quantize_rows_static", quantize_rows_static},
    {"quantize_rows_logarithmic", quantize_rows_logarithmic},
    {"layer_norm", layer_norm},
    {"scale_add", scale_add},
    {"swish", activate<&VectorFunctions::swish>},
    {"gelu", activate<&VectorFunctions::gelu>},
    {"gelu_tanh", activate<&VectorFunctions::gelu_tanh>},
    {"gelu_sigmoid", activate<&VectorFunctions::gelu_sigmoid>},
    {"transpose_keys", transpose_keys},
    {"attend, one query", attend_once},
    {"attend, four queries", attend_beam},
    {"attend, all positions", attend_everywhere},
    {"attend_cache", attend_cache},
    {"recurrent_unit", recurrent_unit},
    {"running_mean", running_mean},
    {"gated_sum", gated_sum},
    {"lstm_unit", lstm_unit},
    {"log_sum_exp", log_sum_exp},
    {"top_k, 1", top_k<1>},
    {"top_k, 4", top_k<4>}};

Seconds time_between_products(const std::string& instruction_set, const std::string& function, size_t rows,
                              size_t columns, size_t positions, size_t heads, size_t copies, size_t rounds) {
    const Kernels& kernels = kernels_named(instruction_set);
    require(rows > 0 && columns > 0 && positions > 0 && copies > 0, "sizes of at least 1");
    require(heads > 0 && columns % (4 * heads) == 0, "heads whose size is a multiple of 4");
    const Shape shape{rows, columns, positions, heads, copies, rounds};
    if (function == "embed") return embed(kernels, shape);
    const auto found = functions.find(function);
    require(found != functions.end(), "a function that the engine calls between products");
    return found->second(kernels.vector, shape);
}

}  // namespace

void bind_between_products(nb::module_& module) {
    module.def("time_between_products", &time_between_products, nb::arg("instruction_set"), nb::arg("function"),
               nb::arg("rows"), nb::arg("columns"), nb::arg("positions"), nb::arg("heads"), nb::arg("copies"),
               nb::arg("rounds"));
}

}  // namespace pocketmt::testing
