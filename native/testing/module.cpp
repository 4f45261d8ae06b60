// The module that tests of single kernels need: pocketmt.engine._native_testing. Its signatures are in
// src/pocketmt/engine/_native_testing.pyi. It is no part of what users install.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "testing/arrays.h"
#include "testing/imitated_avx_vnni/products.h"

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

#if defined(__x86_64__)
constexpr const char* imitated_avx_vnni_name = "imitated avx_vnni";

// The other kernels are those of AVX2. Throws std::runtime_error where the CPU lacks AVX-512.
const Kernels& imitated_avx_vnni_kernels() {
    kernels(InstructionSet::avx512_vnni);
    static const Kernels table = [] {
        Kernels made = kernels(InstructionSet::avx2);
        made.instruction_set = InstructionSet::avx_vnni;
        made.name = imitated_avx_vnni_name;
        made.integer_product = imitated_avx_vnni::integer_product;
        made.six_bit_product = imitated_avx_vnni::six_bit_product;
        made.level_table_product = imitated_avx_vnni::level_table_product;
        made.row_table_product = imitated_avx_vnni::row_table_product;
        return made;
    }();
    return table;
}
#endif

std::vector<std::string> imitated_names() {
#if defined(__x86_64__)
    if (supported(InstructionSet::avx512_vnni)) return {imitated_avx_vnni_name};
#endif
    return {};
}

}  // namespace

const Kernels& kernels_named(const std::string& name) {
    for (const NamedInstructionSet& each : instruction_sets) {
        if (name == each.name) return kernels(each.instruction_set);
    }
#if defined(__x86_64__)
    if (name == imitated_avx_vnni_name) return imitated_avx_vnni_kernels();
#endif
    throw std::invalid_argument("there is no instruction set '" + name + "'");
}

}  // namespace pocketmt::testing

NB_MODULE(_native_testing, module) {
    using namespace pocketmt;
    module.def("instruction_sets", &testing::supported_names);
    module.def("imitated_instruction_sets", &testing::imitated_names);
    module.def("best_instruction_set", [] { return std::string(best_kernels().name); });
    module.attr("largest_integer_columns") = largest_integer_columns;
    testing::bind_products(module);
    testing::bind_bit_planes(module);
    testing::bind_log_products(module);
    testing::bind_vector_functions(module);
    testing::bind_grids(module);
    testing::bind_self_check(module);
    testing::bind_timing(module);
    testing::bind_floor(module);
    testing::bind_crew(module);
}
