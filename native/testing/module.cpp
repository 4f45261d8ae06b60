// The module that tests of single kernels need: pocketmt.engine._native_testing. Its signatures are in
// src/pocketmt/engine/_native_testing.pyi. It is no part of what users install.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "testing/arrays.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

std::vector<std::string> supported_names() {
    std::vector<std::string> names;
    for (const NamedInstructionSet& each : instruction_sets) {
        if (supported(each.instruction_set)) names.emplace_back(each.name);
    }
    return names;
}

}  // namespace

const Kernels& kernels_named(const std::string& name) {
    for (const NamedInstructionSet& each : instruction_sets) {
        if (name == each.name) return kernels(each.instruction_set);
    }
    throw std::invalid_argument("there is no instruction set '" + name + "'");
}

}  // namespace pocketmt::testing

NB_MODULE(_native_testing, module) {
    using namespace pocketmt;
    module.def("instruction_sets", &testing::supported_names);
    module.def("best_instruction_set", [] { return std::string(best_kernels().name); });
    module.attr("largest_integer_columns") = largest_integer_columns;
    testing::bind_products(module);
    testing::bind_bit_planes(module);
    testing::bind_log_products(module);
    testing::bind_vector_functions(module);
    testing::bind_grids(module);
    testing::bind_self_check(module);
    testing::bind_timing(module);
}
