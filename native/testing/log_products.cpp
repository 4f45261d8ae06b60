// Products of log codes with log codes by each of the four ways that paper L compares (Table 5): their values, for
// tests, and the time that they take.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>

#include "kernels/shapes.h"
#include "testing/arrays.h"
#include "testing/log_products/products.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

using Codes = Array<uint8_t, 2>;
constexpr size_t alignment = 64;
constexpr size_t code_count = 16;

const LogProducts& log_products_named(const std::string& name) {
#if defined(__x86_64__)
    const InstructionSet instruction_set = kernels_named(name).instruction_set;
    if (instruction_set == InstructionSet::avx512_vnni) return avx512_vnni::log_products;
    if (instruction_set == InstructionSet::avx2 || instruction_set == InstructionSet::avx_vnni)
        return avx2::log_products;
#else
    kernels_named(name);
#endif
    return portable::log_products;
}

// +-2^(7 - m) of a code.
int power(uint8_t code) {
    return (code & 8) != 0 ? -(128 >> (code & 7)) : 128 >> (code & 7);
}
int8_t level(uint8_t code) {
    return static_cast<int8_t>(std::clamp(power(code), -127, 127));
}

// Elements that begin on a cache line.
template <class T>
class Line {
  public:
    explicit Line(size_t size) : size_(size), bytes_(std::make_unique<FencedBytes>(size * sizeof(T), alignment)) {
        std::fill_n(data(), size, T{});
    }
    T* data() const { return reinterpret_cast<T*>(bytes_->data()); }
    T& operator[](size_t index) const { return data()[index]; }
    size_t size() const { return size_; }
    void check() const { bytes_->check(); }

  private:
    size_t size_;
    std::unique_ptr<FencedBytes> bytes_;
};

template <class T, class Function>
Line<T> mapped(const Codes& codes, Function&& function) {
    Line<T> values(codes.size());
    std::transform(codes.data(), codes.data() + codes.size(), values.data(), function);
    return values;
}

// [rows, columns] -> words [rows, steps].
Line<CodeWord> words_of(const Codes& codes) {
    const size_t steps = ceil_divide(codes.shape(1), word_codes);
    Line<CodeWord> words(codes.shape(0) * steps);
    for (size_t row = 0; row < codes.shape(0); ++row) {
        for (size_t column = 0; column < codes.shape(1); ++column) {
            const CodeWord code = codes.data()[row * codes.shape(1) + column];
            words[row * steps + column / word_codes] |= code << (4 * (column % word_codes));
        }
    }
    return words;
}

Line<int8_t> level_table() {
    Line<int8_t> levels(code_count);
    for (size_t code = 0; code < code_count; ++code) levels[code] = level(static_cast<uint8_t>(code));
    return levels;
}

void require_codes(const Codes& codes) {
    require(codes.size() > 0, "codes");
    require(std::all_of(codes.data(), codes.data() + codes.size(), [](uint8_t code) { return code < code_count; }),
            "codes of 4 bits");
}

// What is common to vectors and matrices: results by the name of a way, and its time.
class Ways {
  public:
    NumPyArray<float> values(const std::string& way) const {
        find(way)();
        results_.check();
        std::vector<float> copy(results_.data(), results_.data() + results_.size());
        return to_numpy(copy, {copy.size()});
    }

    double seconds(const std::string& way, size_t calls) const {
        const std::function<void()>& call = find(way);
        const auto start = std::chrono::steady_clock::now();
        for (size_t i = 0; i < calls; ++i) {
            call();
            __asm__ volatile("" ::: "memory");  // results are results, though nobody reads them
        }
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

  protected:
    explicit Ways(size_t results) : results_(results) {}

    Line<float> results_;
    std::map<std::string, std::function<void()>> ways_;

  private:
    const std::function<void()>& find(const std::string& way) const {
        const auto found = ways_.find(way);
        require(found != ways_.end(), "one of fp32, int8, level_table and exponent_sum");
        return found->second;
    }
};

// Dot products of pairs of vectors of 128 codes.
class LogDotProducts : public Ways {
  public:
    LogDotProducts(const std::string& instruction_set, const Codes& a, const Codes& b)
        : Ways(a.shape(0)),
          table_(log_products_named(instruction_set)),
          float_a_(mapped<float>(a, power)),
          float_b_(mapped<float>(b, power)),
          levels_a_(mapped<int8_t>(a, level)),
          bytes_b_(mapped<uint8_t>(b, [](uint8_t code) { return static_cast<uint8_t>(level(code) + 128); })),
          sums_a_(a.shape(0)),
          halves_b_(b.size() / 2),
          words_a_(words_of(a)),
          words_b_(words_of(b)) {
        require_codes(a);
        require_codes(b);
        require(a.shape(0) == b.shape(0) && a.shape(1) == vector_size && b.shape(1) == vector_size, "[pairs, 128]");
        for (size_t pair = 0; pair < pairs(); ++pair) {
            const int8_t* row = levels_a_.data() + pair * vector_size;
            sums_a_[pair] = std::accumulate(row, row + vector_size, 0);
            const uint8_t* codes = b.data() + pair * vector_size;
            for (size_t i = 0; i < vector_size / 2; ++i)
                halves_b_[pair * vector_size / 2 + i] =
                    static_cast<uint8_t>(codes[i] | codes[vector_size / 2 + i] << 4);
        }
        ways_["fp32"] = [this] { table_.float_dots(float_a_.data(), float_b_.data(), pairs(), results_.data()); };
        ways_["int8"] = [this] {
            table_.integer_dots(levels_a_.data(), sums_a_.data(), bytes_b_.data(), pairs(), results_.data());
        };
        ways_["level_table"] = [this] {
            table_.level_table_dots(levels_a_.data(), sums_a_.data(), halves_b_.data(), levels_.data(), pairs(),
                                    results_.data());
        };
        ways_["exponent_sum"] = [this] {
            table_.exponent_sum_dots(words_a_.data(), words_b_.data(), pairs(), results_.data());
        };
    }

  private:
    size_t pairs() const { return results_.size(); }

    const LogProducts& table_;
    Line<float> float_a_, float_b_;
    Line<int8_t> levels_a_;
    Line<uint8_t> bytes_b_;
    Line<int32_t> sums_a_;
    Line<uint8_t> halves_b_;
    Line<CodeWord> words_a_, words_b_;
    Line<int8_t> levels_ = level_table();
};

// The weights of a matrix for exponent sums.
class ExponentWeights {
  public:
    ExponentWeights(const Codes& codes, const Array<float, 1>& scales)
        : rows_(codes.shape(0)),
          columns_(codes.shape(1)),
          words_(round_up(rows_, exponent_panel_outputs) * ceil_divide(columns_, word_codes)),
          scales_(round_up(rows_, exponent_panel_outputs)) {
        const Line<CodeWord> by_row = words_of(codes);
        const size_t steps = ceil_divide(columns_, word_codes);
        for (size_t row = 0; row < rows_; ++row) {
            scales_[row] = scales.data()[row];
            const size_t first = row / exponent_panel_outputs * steps * exponent_panel_outputs;
            for (size_t step = 0; step < steps; ++step)
                words_[first + step * exponent_panel_outputs + row % exponent_panel_outputs] =
                    by_row[row * steps + step];
        }
    }

    ExponentMatrix view() const { return {words_.data(), scales_.data(), rows_, columns_}; }

  private:
    size_t rows_, columns_;
    Line<CodeWord> words_;
    Line<float> scales_;
};

// A matrix of codes times one vector of codes, by the engine's kernels and by exponent sums.
class LogMatrixProducts : public Ways {
  public:
    LogMatrixProducts(const std::string& instruction_set, const Codes& weights, const Array<float, 1>& scales,
                      const Codes& activations, float scale)
        : Ways(weights.shape(0)),
          kernels_(kernels_named(instruction_set)),
          table_(log_products_named(instruction_set)),
          rows_(weights.shape(0)),
          columns_(weights.shape(1)),
          scale_(scale),
          activations_(mapped<float>(activations, [scale](uint8_t code) { return power(code) * scale; })),
          levels_(round_up(columns_, activation_alignment)),
          words_(words_of(activations)),
          floats_(kernels_.float_product.packed_bytes(rows_, columns_)),
          integers_(kernels_.integer_product.packed_bytes(rows_, columns_)),
          nibbles_(kernels_.level_table_product.packed_bytes(rows_, columns_)),
          exponents_(weights, scales) {
        require_codes(weights);
        require_codes(activations);
        require(activations.shape(0) == 1 && activations.shape(1) == columns_, "activations [1, columns]");
        require(scales.shape(0) == rows_, "a scale for each row");
        std::transform(activations.data(), activations.data() + columns_, levels_.data(), level);
        pack(weights, scales.data());
        const QuantizedActivations quantized{levels_.data(), &scale_, levels_.size()};
        ways_["fp32"] = [this] {
            kernels_.float_product.multiply(floats_.data(), rows_, columns_, activations_.data(), columns_, 1, {},
                                            {results_.data(), rows_});
        };
        ways_["int8"] = [this, quantized] {
            kernels_.integer_product.multiply(integers_.data(), rows_, columns_, quantized, 1, {},
                                              {results_.data(), rows_});
        };
        ways_["level_table"] = [this, quantized] {
            kernels_.level_table_product.multiply(nibbles_.data(), rows_, columns_, quantized, 1, {},
                                                  {results_.data(), rows_});
        };
        ways_["exponent_sum"] = [this] { table_.multiply(exponents_.view(), words_.data(), scale_, results_.data()); };
    }

  private:
    void pack(const Codes& weights, const float* scales) {
        Line<float> floats(rows_ * columns_);
        Line<uint8_t> nibbles(rows_ * ceil_divide(columns_, 2));
        for (size_t row = 0; row < rows_; ++row) {
            for (size_t column = 0; column < columns_; ++column) {
                const uint8_t code = weights.data()[row * columns_ + column];
                floats[row * columns_ + column] = static_cast<float>(power(code)) * scales[row];
                nibbles[row * ceil_divide(columns_, 2) + column / 2] |= static_cast<uint8_t>(code << (column % 2 * 4));
            }
        }
        const Line<int8_t> bytes = mapped<int8_t>(weights, level);
        kernels_.float_product.pack(floats.data(), rows_, columns_, floats_.data());
        kernels_.integer_product.pack(bytes.data(), scales, rows_, columns_, integers_.data());
        kernels_.level_table_product.pack(nibbles.data(), scales, level_table().data(), rows_, columns_,
                                          nibbles_.data());
    }

    const Kernels& kernels_;
    const LogProducts& table_;
    const size_t rows_, columns_;
    const float scale_;
    Line<float> activations_;
    Line<int8_t> levels_;
    Line<CodeWord> words_;
    Line<unsigned char> floats_, integers_, nibbles_;
    ExponentWeights exponents_;
};

template <class Bound>
void bind_ways(nb::class_<Bound>& bound) {
    bound.def(
        "values", [](const Bound& products, const std::string& way) { return products.values(way); }, nb::arg("way"));
    bound.def(
        "seconds",
        [](const Bound& products, const std::string& way, size_t calls) { return products.seconds(way, calls); },
        nb::arg("way"), nb::arg("calls"));
}

}  // namespace

void bind_log_products(nb::module_& module) {
    nb::class_<LogDotProducts> dots(module, "LogDotProducts");
    dots.def(nb::init<const std::string&, const Codes&, const Codes&>(), nb::arg("instruction_set"), nb::arg("a"),
             nb::arg("b"));
    bind_ways(dots);
    nb::class_<LogMatrixProducts> matrices(module, "LogMatrixProducts");
    matrices.def(nb::init<const std::string&, const Codes&, const Array<float, 1>&, const Codes&, float>(),
                 nb::arg("instruction_set"), nb::arg("weights"), nb::arg("scales"), nb::arg("activations"),
                 nb::arg("scale"));
    bind_ways(matrices);
}

}  // namespace pocketmt::testing
