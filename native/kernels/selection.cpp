// The choice of an instruction set. Compiled for the baseline instruction set.
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels.h"

// CMakeLists.txt writes instruction_sets.inc, with a line for each instruction set, the fastest first:
// POCKETMT_COMPILED(name) if this library has its kernels, POCKETMT_FOREIGN(name) if it is another
// processor's or left out of this build.
#define POCKETMT_FOREIGN(name)
#define POCKETMT_COMPILED(name)   \
    namespace pocketmt::name {    \
    extern const Kernels kernels; \
    }
#include "instruction_sets.inc"
#undef POCKETMT_COMPILED
#undef POCKETMT_FOREIGN

namespace pocketmt {

namespace {

#define POCKETMT_FOREIGN(name)
#define POCKETMT_COMPILED(name) &name::kernels,
constexpr const Kernels* compiled_kernels[] = {
#include "instruction_sets.inc"
};
#undef POCKETMT_COMPILED
#undef POCKETMT_FOREIGN

#define POCKETMT_FOREIGN(name) #name,
#define POCKETMT_COMPILED(name) #name,
constexpr std::string_view known_names[] = {
#include "instruction_sets.inc"
};
#undef POCKETMT_COMPILED
#undef POCKETMT_FOREIGN

std::string supported_names() {
    std::string names;
    for (const Kernels* each : supported_kernels()) names += (names.empty() ? "" : ", ") + std::string(each->name);
    return names;
}

}  // namespace

std::span<const Kernels* const> supported_kernels() {
    static const std::vector<const Kernels*> supported = [] {
        std::vector<const Kernels*> found;
        for (const Kernels* each : compiled_kernels) {
            if (offered(each->requirements)) found.push_back(each);
        }
        return found;
    }();
    return supported;
}

const Kernels& kernels_named(std::string_view name) {
    for (const Kernels* each : compiled_kernels) {
        if (name == each->name && offered(each->requirements)) return *each;
    }
    for (const std::string_view known : known_names) {
        if (name != known) continue;
        throw std::runtime_error("this CPU or its operating system does not offer " + std::string(name) +
                                 "; unset POCKETMT_INSTRUCTION_SET, or set it to one of: " + supported_names());
    }
    throw std::invalid_argument("there is no instruction set '" + std::string(name) +
                                "'; this CPU has: " + supported_names());
}

const Kernels& best_kernels() {
    const char* name = std::getenv("POCKETMT_INSTRUCTION_SET");
    if (name == nullptr || *name == '\0') return *supported_kernels().front();
    try {
        return kernels_named(name);
    } catch (const std::invalid_argument& error) {
        throw std::runtime_error(std::string("POCKETMT_INSTRUCTION_SET: ") + error.what());
    }
}

}  // namespace pocketmt
