#include "model/weights/matrix.h"

#include <numeric>

#include "model/runtime/error.h"

namespace pocketmt {

namespace {

constexpr size_t most_scattered_groups = 16;  // an index of 4 bits

size_t index_bits(size_t groups) {
    return groups <= 2 ? 1 : groups <= 4 ? 2 : 4;
}

}  // namespace

Matrix::Matrix(const Kernels& kernels, Arena& arena, const TensorSource& source, const std::string& name, size_t rows,
               size_t columns)
    : rows_(rows) {
    const std::vector<GroupDescription>* groups = source.groups(name);
    if (groups == nullptr) {
        parts_.push_back({pack_plain(kernels, arena, source, name, rows, columns), 0, {}});
        return;
    }
    check_rows(name, *groups);
    if (source.holds(name + ".activation_scale")) activation_scale_ = source.positive(name + ".activation_scale");
    bool scattered = source.holds(name + ".groups");
    if (scattered && groups->size() > most_scattered_groups)
        throw ModelError("matrix " + name + ": more than 16 row groups cannot lie scattered");
    size_t first_row = 0;
    for (const GroupDescription& description : *groups) {
        std::string prefix = name + "." + std::to_string(parts_.size());
        parts_.push_back({pack_row_group(kernels, arena, source, prefix, description, columns), first_row, {}});
        first_row += description.rows;
    }
    if (scattered) scatter(source, name);
}

void Matrix::check_rows(const std::string& name, const std::vector<GroupDescription>& groups) const {
    size_t rows = 0;
    for (const GroupDescription& group : groups) {
        if (group.rows == 0 || group.rows > rows_ - rows) {
            throw ModelError("matrix " + name + ": a row group of " + std::to_string(group.rows) +
                             " rows does not fit");
        }
        rows += group.rows;
    }
    if (rows != rows_) {
        throw ModelError("matrix " + name + ": its row groups hold " + std::to_string(rows) + " rows, expected " +
                         std::to_string(rows_));
    }
}

void Matrix::scatter(const TensorSource& source, const std::string& name) {
    size_t bits = index_bits(parts_.size());
    const uint8_t* indices = source.packed_codes(name + ".groups", {1, (rows_ * bits + 7) / 8});
    for (size_t row = 0; row < rows_; ++row) {
        size_t index = indices[row * bits / 8] >> (row * bits % 8) & ((1u << bits) - 1);
        if (index >= parts_.size()) throw ModelError("tensor " + name + ".groups: names a row group that is not there");
        std::vector<uint32_t>& rows = parts_[index].scattered_rows;
        places_.push_back({static_cast<uint32_t>(index), static_cast<uint32_t>(rows.size())});
        rows.push_back(static_cast<uint32_t>(row));
    }
    for (const Part& part : parts_) {
        if (part.scattered_rows.size() != part.group.rows())
            throw ModelError("tensor " + name + ".groups: puts a wrong number of rows into a row group");
    }
}

void Matrix::multiply(Activations& activations, const Epilogue& epilogue, float* out, size_t out_stride) const {
    activations.use_static_scale(activation_scale_);
    for (const Part& part : parts_) {
        if (!part.scattered_rows.empty()) {
            multiply_scattered(part, activations, epilogue, out, out_stride);
            continue;
        }
        Epilogue own{epilogue.bias == nullptr ? nullptr : epilogue.bias + part.first_row, epilogue.activation};
        part.group.multiply(activations, own, {out + part.first_row, out_stride});
    }
}

void Matrix::multiply_part(Activations& activations, const Epilogue& epilogue, const Outputs& outputs) const {
    activations.use_static_scale(activation_scale_);
    parts_.front().group.multiply(activations, {epilogue.bias, epilogue.activation}, outputs);
}

// Computes the product of the group, then copies its outputs to their rows, with bias and activation. Each output is
// the result of the same operations wherever its row lies.
void Matrix::multiply_scattered(const Part& part, Activations& activations, const Epilogue& epilogue, float* out,
                                size_t out_stride) {
    const std::vector<uint32_t>& rows = part.scattered_rows;
    float* outputs = activations.group_outputs(rows.size());
    part.group.multiply(activations, {}, {outputs, rows.size()});
    for (size_t i = 0; i < activations.count(); ++i, outputs += rows.size(), out += out_stride) {
        for (size_t row = 0; row < rows.size(); ++row) {
            float value = outputs[row];
            if (epilogue.bias != nullptr) value += epilogue.bias[rows[row]];
            out[rows[row]] = activated(epilogue.activation, value);
        }
    }
}

Matrix::Place Matrix::place(size_t row) const {
    if (!places_.empty()) return places_[row];
    size_t part = parts_.size() - 1;
    while (row < parts_[part].first_row) --part;
    return {static_cast<uint32_t>(part), static_cast<uint32_t>(row - parts_[part].first_row)};
}

void Matrix::unpack_row(size_t row, float* out) const {
    Place at = place(row);
    parts_[at.part].group.unpack_row(at.row, out);
}

size_t Matrix::bytes() const {
    size_t bytes = 0;
    for (const Part& part : parts_) bytes += part.group.gathered_bytes(part.group.rows());
    return bytes;
}

Matrix Matrix::gather(std::span<const uint32_t> rows, Buffer<std::byte>& memory) const {
    std::vector<std::vector<uint32_t>> of_group(parts_.size()), of_matrix(parts_.size());
    for (size_t i = 0; i < rows.size(); ++i) {
        Place at = place(rows[i]);
        of_group[at.part].push_back(at.row);
        of_matrix[at.part].push_back(static_cast<uint32_t>(i));
    }
    size_t bytes = 0;
    for (size_t part = 0; part < parts_.size(); ++part) {
        if (!of_group[part].empty()) bytes += parts_[part].group.gathered_bytes(of_group[part].size());
    }
    std::byte* next = memory.ensure(bytes);
    Matrix gathered(rows.size(), activation_scale_);
    gathered.places_.resize(places_.empty() ? 0 : rows.size());
    for (size_t part = 0; part < parts_.size(); ++part) {
        if (of_group[part].empty()) continue;
        const RowGroup& group = parts_[part].group;
        size_t first_row = of_matrix[part].front(), index = gathered.parts_.size();
        if (places_.empty()) of_matrix[part].clear();  // its rows are a run here, too
        for (size_t row = 0; row < of_matrix[part].size(); ++row)
            gathered.places_[of_matrix[part][row]] = {static_cast<uint32_t>(index), static_cast<uint32_t>(row)};
        gathered.parts_.push_back({group.gather(of_group[part], next), first_row, of_matrix[part]});
        next += group.gathered_bytes(of_group[part].size());
    }
    return gathered;
}

std::vector<double> Matrix::row_sums() const {
    std::vector<float> row(parts_.front().group.columns());
    std::vector<double> sums;
    for (size_t index = 0; index < rows_; ++index) {
        unpack_row(index, row.data());
        sums.push_back(std::accumulate(row.begin(), row.end(), 0.0));
    }
    return sums;
}

}  // namespace pocketmt
