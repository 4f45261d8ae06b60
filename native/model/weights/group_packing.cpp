// Packs the schemes of a model file for the families of products.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "model/runtime/error.h"
#include "model/weights/packed_codes.h"
#include "model/weights/row_group.h"

namespace pocketmt {

namespace {

constexpr size_t table_levels = 16;
// Rows of binary codes whose alphas add up to less are zero.
constexpr float smallest_sum = 1e-35f;
// Number of rows of floats that are packed and released at a time, so that memory never holds a whole matrix both as in
// the file and packed.
constexpr size_t part_rows = 16 * float_part_rows;

size_t packed_size(size_t codes, size_t bits) {
    return (codes * bits + 7) / 8;
}

class GroupPacking {
  public:
    GroupPacking(const Kernels& kernels, Arena& arena, const TensorSource& source, const std::string& prefix,
                 const GroupDescription& description, size_t columns)
        : kernels_(kernels),
          arena_(arena),
          source_(source),
          prefix_(prefix),
          description_(description),
          rows_(description.rows),
          columns_(columns) {}

    RowGroup pack() const {
        const std::string& scheme = description_.scheme;
        unsigned bits = description_.bits;
        if (columns_ > most_integer_columns) {
            refuse("its rows have " + std::to_string(columns_) + " elements, at most " +
                   std::to_string(most_integer_columns) + " can be quantized: store them in fp32");
        }
        bool few_bits = bits >= 1 && bits <= 4, by_row = description_.granularity == "row";
        if (scheme != "logarithmic" && !description_.levels.empty()) refuse("has levels, which " + scheme + " has not");
        if (scheme == "uniform" && bits == 8) return uniform();
        if (scheme == "affine" && (bits == 4 || bits == 6 || bits == 8)) return affine();
        if (scheme == "logarithmic" && few_bits) return small_table(checked_levels());
        if (scheme == "codebook" && few_bits && !by_row) return small_table(codebook(size_t{1} << bits));
        if (scheme == "codebook" && bits == 8 && !by_row)
            return whole_numbers(ProductFamily::integer, codebook(256), scales("scale"), nullptr);
        if (scheme == "binary" && few_bits && by_row) return binary();
        refuse("this engine has no kernel for the scheme \"" + scheme + "\" of " + std::to_string(bits) + " bits by " +
               description_.granularity);
    }

  private:
    [[noreturn]] void refuse(const std::string& what) const { throw ModelError("matrix " + prefix_ + ": " + what); }

    // The levels of a lookup table in the manifest.
    std::vector<int8_t> checked_levels() const {
        const std::vector<int>& levels = description_.levels;
        size_t count = size_t{1} << description_.bits;
        if (levels.size() != count) refuse("its level table must have " + std::to_string(count) + " levels");
        if (std::any_of(levels.begin(), levels.end(), [](int level) { return level < -127 || level > 127; }))
            refuse("levels must be -127 to 127");
        return {levels.begin(), levels.end()};
    }
    // Those of a tensor.
    std::vector<int8_t> codebook(size_t count) const {
        const int8_t* levels = source_.signed_codes(prefix_ + ".levels", {count});
        return {levels, levels + count};
    }

    // One value for each row, from one a row or one for all.
    std::vector<float> scales(const char* suffix) const {
        std::string name = prefix_ + "." + suffix;
        if (description_.granularity == "row") return source_.scales(name, {rows_});
        if (description_.granularity == "matrix") return std::vector<float>(rows_, source_.scales(name, {1})[0]);
        refuse("unknown granularity \"" + description_.granularity + "\"");
    }
    const uint8_t* codes() const {
        return source_.packed_codes(prefix_ + ".codes", {rows_, packed_size(columns_, description_.bits)});
    }

    // Packs the weights and releases the bytes of the tensor `suffix`, which they were read from.
    RowGroup packed(ProductFamily family, const UnpackedWeights& weights, const float* offsets,
                    const char* suffix) const {
        const Product& product = kernels_.product(family);
        const MatrixShape shape{rows_, columns_, description_.bits};
        void* block = arena_.allocate(product.packed_bytes(shape));
        product.pack(weights, shape, block);
        source_.release(prefix_ + "." + suffix);
        return {&product, {block, shape}, offsets};
    }

    RowGroup uniform() const {
        const int8_t* codes = source_.signed_codes(prefix_ + ".codes", {rows_, columns_});
        std::vector<float> scale = scales("scale");
        return packed(ProductFamily::integer, {.integers = codes, .scales = scale.data()}, nullptr, "codes");
    }

    // weight = minimum + code * scale = (minimum + half * scale) + (code - half) * scale. The levels code - half fit
    // int8, and the first summand is the offset.
    RowGroup affine() const {
        size_t count = size_t{1} << description_.bits;
        std::vector<int8_t> levels(count);
        for (size_t code = 0; code < count; ++code)
            levels[code] = static_cast<int8_t>(static_cast<int>(code) - static_cast<int>(count / 2));
        std::vector<float> scale = scales("scale"), minimum = scales("minimum");
        float* offsets = static_cast<float*>(arena_.allocate(rows_ * sizeof(float)));
        for (size_t row = 0; row < rows_; ++row)
            offsets[row] = minimum[row] + static_cast<float>(count / 2) * scale[row];
        if (description_.bits <= 4) return lookup_table(levels, scale, offsets);
        return whole_numbers(description_.bits == 6 ? ProductFamily::six_bit : ProductFamily::integer, levels, scale,
                             offsets);
    }

    // Two levels, or four levels whose outer two have the same sum as the inner two, are sums of signs, and are
    // multiplied as a binary code.
    RowGroup small_table(const std::vector<int8_t>& levels) const {
        std::vector<int8_t> sorted = levels;
        std::sort(sorted.begin(), sorted.end());
        bool sum_of_signs =
            levels.size() == 2 || (levels.size() == 4 && sorted[0] + sorted[3] == sorted[1] + sorted[2]);
        return sum_of_signs ? signs(levels, sorted) : lookup_table(levels, scales("scale"), nullptr);
    }

    // level = middle + the sum of +halves[i] or -halves[i] over the bits i of its rank. All halves are exact.
    RowGroup signs(const std::vector<int8_t>& levels, const std::vector<int8_t>& sorted) const {
        size_t bits = description_.bits;
        std::vector<unsigned> ranks(levels.size());
        for (size_t code = 0; code < levels.size(); ++code) {
            ranks[code] =
                static_cast<unsigned>(std::lower_bound(sorted.begin(), sorted.end(), levels[code]) - sorted.begin());
        }
        float middle = static_cast<float>(sorted.front() + sorted.back()) / 2.0f;
        std::vector<float> scale = scales("scale"), alphas(rows_ * bits);
        for (size_t row = 0; row < rows_; ++row) {
            for (size_t bit = 0; bit < bits; ++bit)
                alphas[row * bits + bit] = static_cast<float>(sorted[size_t{1} << bit] - sorted[0]) / 2.0f * scale[row];
        }
        float* offsets = middle == 0.0f ? nullptr : static_cast<float*>(arena_.allocate(rows_ * sizeof(float)));
        if (offsets != nullptr) {
            for (size_t row = 0; row < rows_; ++row) offsets[row] = middle * scale[row];
        }
        RowGroup group = binary_code(planes_of(ranks).data(), alphas, offsets, "codes");
        float* level_scales = static_cast<float*>(arena_.allocate(rows_ * sizeof(float)));
        std::copy(scale.begin(), scale.end(), level_scales);
        group.level_scales = level_scales;
        return group;
    }
    // The bits of each code's rank as planes [rows, bits, (columns + 7) / 8].
    std::vector<uint8_t> planes_of(const std::vector<unsigned>& ranks) const {
        size_t bits = description_.bits, row_bytes = packed_size(columns_, bits),
               plane_bytes = packed_size(columns_, 1);
        const uint8_t* packed_codes = codes();
        std::vector<uint8_t> planes(rows_ * bits * plane_bytes);
        for (size_t row = 0; row < rows_; ++row) {
            uint8_t* row_planes = planes.data() + row * bits * plane_bytes;
            for_eight_codes(packed_codes + row * row_bytes, columns_, bits, [&](size_t eight, const auto& found) {
                for (size_t code = 0; code < found.size(); ++code) {
                    unsigned rank = ranks[found[code]];
                    for (size_t bit = 0; bit < bits; ++bit)
                        row_planes[bit * plane_bytes + eight] |= static_cast<uint8_t>((rank >> bit & 1u) << code);
                }
            });
        }
        return planes;
    }

    // Whether lookup tables are replaced by their levels in 8 bits, with the same results: where look-ups take longer
    // than multiplications, the shorter codes pay only if the network does not stay in the cache.
    bool expanded() const {
        static const size_t most_bytes = near_cache_bytes() / 4 * 3;
        return kernels_.expands_tables && 2 * source_.element_bytes() <= most_bytes;
    }
    // Codes of up to 4 bits; those of fewer bits are widened to 4.
    RowGroup lookup_table(const std::vector<int8_t>& levels, const std::vector<float>& scale,
                          const float* offsets) const {
        if (expanded()) return whole_numbers(ProductFamily::integer, levels, scale, offsets);
        std::array<int8_t, table_levels> table{};
        std::copy(levels.begin(), levels.end(), table.begin());
        const uint8_t* nibbles = codes();
        std::vector<uint8_t> widened;
        if (description_.bits < 4) {
            widened = widen(nibbles);
            nibbles = widened.data();
        }
        return packed(ProductFamily::lookup_table, {.codes = nibbles, .levels = table.data(), .scales = scale.data()},
                      offsets, "codes");
    }
    std::vector<uint8_t> widen(const uint8_t* codes) const {
        size_t row_bytes = packed_size(columns_, description_.bits), nibble_bytes = packed_size(columns_, 4);
        std::vector<uint8_t> nibbles(rows_ * nibble_bytes);
        for (size_t row = 0; row < rows_; ++row) {
            for_eight_codes(codes + row * row_bytes, columns_, description_.bits, [&](size_t eight, const auto& found) {
                uint32_t word = 0;
                for (unsigned code = 0; code < found.size(); ++code) word |= uint32_t{found[code]} << (4 * code);
                store_nibbles(word, eight, nibbles.data() + row * nibble_bytes, nibble_bytes);
            });
        }
        return nibbles;
    }

    // Codes of 6 or 8 bits, replaced by their levels, which are from -32 to 31 for 6 bits.
    RowGroup whole_numbers(ProductFamily family, const std::vector<int8_t>& levels, const std::vector<float>& scale,
                           const float* offsets) const {
        const uint8_t* packed_codes = codes();
        size_t row_bytes = packed_size(columns_, description_.bits);
        std::vector<int8_t> weight(rows_ * columns_);
        for (size_t row = 0; row < rows_; ++row) {
            int8_t* of_row = weight.data() + row * columns_;
            for_eight_codes(packed_codes + row * row_bytes, columns_, description_.bits,
                            [&](size_t eight, const auto& found) {
                                size_t given = std::min(found.size(), columns_ - eight * found.size());
                                for (size_t code = 0; code < given; ++code)
                                    of_row[eight * found.size() + code] = levels[found[code]];
                            });
        }
        return packed(family, {.integers = weight.data(), .scales = scale.data()}, offsets, "codes");
    }

    RowGroup binary() const {
        size_t bits = description_.bits;
        const uint8_t* planes = source_.packed_codes(prefix_ + ".planes", {rows_, bits, packed_size(columns_, 1)});
        std::vector<float> alphas = source_.scales(prefix_ + ".alphas", {rows_, bits});
        return bits <= most_binary_code_bits ? binary_code(planes, alphas, nullptr, "planes")
                                             : row_lookup_table(planes, alphas);
    }
    // The sums of +alpha and -alpha of each row as levels, in units of 1/127 of the greatest sum. One look-up of a
    // level replaces a look-up for each bit.
    RowGroup row_lookup_table(const uint8_t* planes, const std::vector<float>& alphas) const {
        size_t bits = description_.bits;
        std::vector<float> scale(rows_);
        std::vector<int8_t> levels(rows_ * table_levels);
        for (size_t row = 0; row < rows_; ++row) {
            const float* of_row = alphas.data() + row * bits;
            float greatest = 0.0f;
            for (size_t bit = 0; bit < bits; ++bit) greatest += std::fabs(of_row[bit]);
            if (!std::isfinite(greatest)) refuse("the alphas of a row add up to more than float32 holds");
            if (greatest < smallest_sum) continue;  // 1/127 of it would not be exact.
            scale[row] = greatest / 127.0f;
            for (size_t code = 0; code < size_t{1} << bits; ++code) {
                float sum = 0.0f;
                for (size_t bit = 0; bit < bits; ++bit) sum += (code >> bit & 1u) != 0 ? of_row[bit] : -of_row[bit];
                levels[row * table_levels + code] = static_cast<int8_t>(std::nearbyint(sum / scale[row]));
            }
        }
        std::vector<uint8_t> nibbles = nibbles_of(planes);
        if (expanded()) {
            const std::vector<int8_t> weight = levels_of(nibbles, levels);
            return packed(ProductFamily::integer, {.integers = weight.data(), .scales = scale.data()}, nullptr,
                          "planes");
        }
        return packed(ProductFamily::row_lookup_table,
                      {.codes = nibbles.data(), .levels = levels.data(), .scales = scale.data()}, nullptr, "planes");
    }
    // The levels of nibbles [rows, (columns + 1) / 2] with a table for each row [rows, 16].
    std::vector<int8_t> levels_of(const std::vector<uint8_t>& nibbles, const std::vector<int8_t>& levels) const {
        std::vector<int8_t> weight(rows_ * columns_);
        for (size_t row = 0; row < rows_; ++row) {
            const uint8_t* codes = nibbles.data() + row * packed_size(columns_, 4);
            for (size_t column = 0; column < columns_; ++column) {
                const unsigned code = codes[column / 2] >> (column % 2 * 4) & 15u;
                weight[row * columns_ + column] = levels[row * table_levels + code];
            }
        }
        return weight;
    }
    // Turns planes [rows, bits, (columns + 7) / 8] into nibbles whose bit i is that of plane i.
    std::vector<uint8_t> nibbles_of(const uint8_t* planes) const {
        size_t bits = description_.bits, plane_bytes = packed_size(columns_, 1),
               nibble_bytes = packed_size(columns_, 4);
        std::vector<uint8_t> nibbles(rows_ * nibble_bytes);
        std::vector<uint32_t> words(plane_bytes);  // Of a row, eight nibbles each.
        for (size_t row = 0; row < rows_; ++row) {
            std::fill(words.begin(), words.end(), 0);
            for (size_t bit = 0; bit < bits; ++bit) {
                const uint8_t* plane = planes + (row * bits + bit) * plane_bytes;
                for (size_t eight = 0; eight < plane_bytes; ++eight) words[eight] |= spread_bits(plane[eight]) << bit;
            }
            std::memcpy(nibbles.data() + row * nibble_bytes, words.data(), nibble_bytes);
        }
        return nibbles;
    }
    RowGroup binary_code(const uint8_t* planes, const std::vector<float>& alphas, const float* offsets,
                         const char* suffix) const {
        return packed(ProductFamily::binary_code, {.codes = planes, .scales = alphas.data()}, offsets, suffix);
    }

    const Kernels& kernels_;
    Arena& arena_;
    const TensorSource& source_;
    const std::string& prefix_;
    const GroupDescription& description_;
    size_t rows_;
    size_t columns_;
};

}  // namespace

RowGroup pack_plain(const Kernels& kernels, Arena& arena, const TensorSource& source, const std::string& name,
                    size_t rows, size_t columns) {
    const Product& product = kernels.product(ProductFamily::float32);
    const float* weight = source.unchecked_floats(name, {rows, columns});
    std::byte* packed = static_cast<std::byte*>(arena.allocate(product.packed_bytes({rows, columns})));
    for (size_t first = 0; first < rows; first += part_rows) {
        size_t part = std::min(part_rows, rows - first);
        const float* of_part = weight + first * columns;
        TensorSource::check_finite(name, {of_part, part * columns});
        product.pack({.floats = of_part}, {part, columns}, packed + product.packed_bytes({first, columns}));
        source.release_part(name, first * columns * sizeof(float), part * columns * sizeof(float));
    }
    source.release(name);
    return {&product, {packed, {rows, columns}}, nullptr};
}

RowGroup pack_row_group(const Kernels& kernels, Arena& arena, const TensorSource& source, const std::string& prefix,
                        const GroupDescription& description, size_t columns) {
    return GroupPacking(kernels, arena, source, prefix, description, columns).pack();
}

}  // namespace pocketmt
