#include "model/matrix.h"

#include <array>

#include "model/error.h"

namespace pocketmt {

namespace {

constexpr size_t level_count = 16;

std::array<int8_t, level_count> checked_levels(const std::string& prefix, const std::vector<int>& levels) {
    if (levels.size() != level_count) throw ModelError("matrix " + prefix + ": a level table must have 16 levels");
    std::array<int8_t, level_count> result;
    for (size_t i = 0; i < level_count; ++i) {
        if (levels[i] < -127 || levels[i] > 127) throw ModelError("matrix " + prefix + ": levels must be -127 to 127");
        result[i] = static_cast<int8_t>(levels[i]);
    }
    return result;
}

// The scale of each row, from one a row or one for all.
std::vector<float> row_scales(const TensorSource& source, const std::string& prefix, const std::string& granularity,
                              size_t rows) {
    if (granularity == "row") return source.scales(prefix + ".scale", {rows});
    if (granularity == "matrix") return std::vector<float>(rows, source.scales(prefix + ".scale", {1})[0]);
    throw ModelError("matrix " + prefix + ": unknown granularity \"" + granularity + "\"");
}

}  // namespace

Matrix::Matrix(const Kernels& kernels, Arena& arena, const TensorSource& source, const std::string& name, size_t rows,
               size_t columns)
    : kernels_(&kernels), rows_(rows), columns_(columns) {
    const std::vector<GroupDescription>* groups = source.groups(name);
    if (groups == nullptr) {
        pack_plain(arena, source, name);
        return;
    }
    if (groups->size() > rows) throw ModelError("matrix " + name + ": has more row groups than rows");
    groups_.reserve(groups->size());
    for (const GroupDescription& description : *groups) pack_group(arena, source, name, description);
    size_t packed_rows = groups_.empty() ? 0 : groups_.back().first_row + groups_.back().rows;
    if (packed_rows != rows_) {
        throw ModelError("matrix " + name + ": its row groups hold " + std::to_string(packed_rows) +
                         " rows, expected " + std::to_string(rows_));
    }
}

void Matrix::pack_plain(Arena& arena, const TensorSource& source, const std::string& name) {
    const float* weight = source.floats(name, {rows_, columns_});
    Group& group = groups_.emplace_back(
        Group{Family::plain, 0, rows_, arena.allocate(kernels_->float_product.packed_bytes(rows_, columns_))});
    kernels_->float_product.pack(weight, rows_, columns_, group.packed);
    source.release(name);
}

void Matrix::pack_group(Arena& arena, const TensorSource& source, const std::string& name,
                        const GroupDescription& description) {
    size_t first_row = groups_.empty() ? 0 : groups_.back().first_row + groups_.back().rows;
    if (description.rows == 0 || description.rows > rows_ - first_row) {
        throw ModelError("matrix " + name + ": a row group of " + std::to_string(description.rows) +
                         " rows does not fit");
    }
    std::string prefix = name + "." + std::to_string(groups_.size());
    Group& group = groups_.emplace_back(Group{Family::plain, first_row, description.rows, nullptr});
    if (!description.levels.empty() && description.bits == 4) {
        pack_level_table(arena, source, prefix, description, group);
    } else if (description.levels.empty() && description.scheme == "uniform" && description.bits == 8 &&
               description.granularity == "row") {
        pack_integer(arena, source, prefix, group);
    } else {
        throw ModelError("matrix " + prefix + ": this engine has no kernel for the scheme \"" + description.scheme +
                         "\" of " + std::to_string(description.bits) + " bits by " + description.granularity);
    }
    source.release(prefix + ".codes");
}

void Matrix::pack_integer(Arena& arena, const TensorSource& source, const std::string& prefix, Group& group) {
    const IntegerProduct& product = kernels_->integer_product;
    group.family = Family::integer;
    const int8_t* codes = source.signed_codes(prefix + ".codes", {group.rows, columns_});
    std::vector<float> scales = source.scales(prefix + ".scale", {group.rows});
    group.packed = arena.allocate(product.packed_bytes(group.rows, columns_));
    product.pack(codes, scales.data(), group.rows, columns_, group.packed);
}

void Matrix::pack_level_table(Arena& arena, const TensorSource& source, const std::string& prefix,
                              const GroupDescription& description, Group& group) {
    const LevelTableProduct& product = kernels_->level_table_product;
    std::array<int8_t, level_count> levels = checked_levels(prefix, description.levels);
    group.family = Family::level_table;
    const uint8_t* codes = source.packed_codes(prefix + ".codes", {group.rows, (columns_ + 1) / 2});
    std::vector<float> scales = row_scales(source, prefix, description.granularity, group.rows);
    group.packed = arena.allocate(product.packed_bytes(group.rows, columns_));
    product.pack(codes, scales.data(), levels.data(), group.rows, columns_, group.packed);
}

void Matrix::multiply(Activations& activations, const Epilogue& epilogue, float* out, size_t out_stride) const {
    size_t count = activations.count();
    for (const Group& group : groups_) {
        Epilogue part{epilogue.bias == nullptr ? nullptr : epilogue.bias + group.first_row, epilogue.relu};
        const void* packed = group.packed;
        float* part_out = out + group.first_row;
        switch (group.family) {
            case Family::plain:
                kernels_->float_product.multiply(packed, group.rows, columns_, activations.values(), columns_, count,
                                                 part, part_out, out_stride);
                break;
            case Family::integer:
                kernels_->integer_product.multiply(packed, group.rows, columns_, activations.quantized(), count, part,
                                                   part_out, out_stride);
                break;
            case Family::level_table:
                kernels_->level_table_product.multiply(packed, group.rows, columns_, activations.quantized(), count,
                                                       part, part_out, out_stride);
                break;
        }
    }
}

void Matrix::unpack_row(size_t row, float* out) const {
    const Group* group = &groups_.front();
    while (row >= group->first_row + group->rows) ++group;
    const void* packed = group->packed;
    size_t row_in_group = row - group->first_row;
    switch (group->family) {
        case Family::plain:
            kernels_->float_product.unpack_row(packed, group->rows, columns_, row_in_group, out);
            break;
        case Family::integer:
            kernels_->integer_product.unpack_row(packed, group->rows, columns_, row_in_group, out);
            break;
        case Family::level_table:
            kernels_->level_table_product.unpack_row(packed, group->rows, columns_, row_in_group, out);
            break;
    }
}

}  // namespace pocketmt
