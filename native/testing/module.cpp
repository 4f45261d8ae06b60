// The module pocketmt.engine._native_testing, which tests of single kernels need. Its signatures are in
// src/pocketmt/engine/_native_testing.pyi. Users do not install it.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "testing/arrays.h"

namespace nb = nanobind;

#if defined(POCKETMT_EMULATES_AVX_VNNI)
namespace pocketmt::emulated_avx_vnni {
extern const Kernels kernels;
}
#endif

namespace pocketmt::testing {

namespace {

using Names = std::vector<std::string>;

Names supported_names() {
    Names names;
    for (const Kernels* each : supported_kernels()) names.emplace_back(each->name);
    return names;
}

// Kernels of an instruction set in the encoding of another one, by which a CPU without the first can test them.
std::vector<const Kernels*> emulated_kernels() {
    std::vector<const Kernels*> kernels;
#if defined(POCKETMT_EMULATES_AVX_VNNI)
    if (offered(emulated_avx_vnni::kernels.requirements)) kernels.push_back(&emulated_avx_vnni::kernels);
#endif
    return kernels;
}

Names emulated_names() {
    Names names;
    for (const Kernels* each : emulated_kernels()) names.emplace_back(each->name);
    return names;
}

}  // namespace

const Kernels& kernels_named(const std::string& name) {
    for (const Kernels* each : emulated_kernels()) {
        if (name == each->name) return *each;
    }
    return pocketmt::kernels_named(name);
}

}  // namespace pocketmt::testing

NB_MODULE(_native_testing, module) {
    using namespace pocketmt;
    module.def("instruction_sets", &testing::supported_names);
    module.def("emulated_instruction_sets", &testing::emulated_names);
    module.def("best_instruction_set", [] { return std::string(best_kernels().name); });
    module.attr("most_integer_columns") = most_integer_columns;
    testing::bind_products(module);
    testing::bind_vector_functions(module);
    testing::bind_fake_quantization(module);
    testing::bind_self_check(module);
    testing::bind_timing(module);
    testing::bind_floor(module);
    testing::bind_between_products(module);
    testing::bind_thread_pool(module);
}
