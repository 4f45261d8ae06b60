// From Python's description of a model file to an engine.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "search/engine.h"

namespace pocketmt {

using PythonTensor = std::tuple<std::string, std::vector<uint64_t>, uint64_t, uint64_t>;
using PythonGroup = std::tuple<std::string, unsigned, std::string, std::vector<int>, uint64_t>;
using PythonVectorGroup = std::tuple<std::string, std::vector<std::string>>;

// Arguments: see Model in src/pocketmt/engine/_native.pyi.
std::shared_ptr<Engine> load(nanobind::handle buffer, const FieldValues& architecture,
                             std::unordered_map<std::string, PythonTensor> tensors,
                             std::unordered_map<std::string, std::vector<PythonGroup>> matrices,
                             std::optional<nanobind::callable> release,
                             const std::optional<std::string>& instruction_set, size_t workers, bool pin_workers,
                             std::unordered_map<std::string, nanobind::callable> decoders,
                             const std::vector<std::string>& deflated, std::vector<PythonVectorGroup> vector_groups,
                             std::optional<std::tuple<unsigned, double>> logarithmic_activations,
                             unsigned activation_bits, nanobind::object shortlist, size_t frequent_pieces);

}  // namespace pocketmt
