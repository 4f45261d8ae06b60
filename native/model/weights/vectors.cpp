#include "model/weights/vectors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/runtime/error.h"

namespace pocketmt {

Vectors::Vectors(const Kernels& kernels, const TensorSource& source) : kernels_(kernels), source_(source) {
    for (size_t group = 0; group < source.vector_groups().size(); ++group) {
        const std::vector<std::string>& vectors = source.vector_groups()[group].vectors;
        for (size_t row = 0; row < vectors.size(); ++row) rows_.emplace(vectors[row], Row{group, row});
    }
}

std::vector<float> Vectors::values(const std::string& name, size_t size) {
    auto found = rows_.find(name);
    if (found == rows_.end()) {
        const float* plain = source_.floats(name, {size});
        return std::vector<float>(plain, plain + size);
    }
    std::vector<float> decoded(size);
    group(found->second.group, name, size).unpack_row(found->second.row, decoded.data());
    if (!std::all_of(decoded.begin(), decoded.end(), [](float value) { return std::isfinite(value); }))
        throw ModelError("vector " + name + ": decodes to a value that is not a finite number");
    return decoded;
}

const Matrix& Vectors::group(size_t index, const std::string& name, size_t columns) {
    const VectorGroupDescription& description = source_.vector_groups()[index];
    auto found = packed_.find(index);
    if (found == packed_.end()) {
        Matrix matrix(kernels_, arena_, source_, description.name, description.vectors.size(), columns);
        found = packed_.emplace(index, Group{columns, std::move(matrix)}).first;
    }
    if (found->second.columns != columns) {
        throw ModelError("vector " + name + ": has " + std::to_string(columns) + " elements, others of " +
                         description.name + " have " + std::to_string(found->second.columns));
    }
    return found->second.matrix;
}

}  // namespace pocketmt
