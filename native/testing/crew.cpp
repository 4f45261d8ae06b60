// A crew of threads, given parts that say whether they were done.
#include "model/crew.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>

#include "testing/arrays.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

class CountingCrew {
  public:
    explicit CountingCrew(size_t members) : crew_(members) {}

    std::vector<size_t> run(size_t parts, std::optional<size_t> failing) {
        std::vector<std::atomic<size_t>> done(parts);
        nb::gil_scoped_release no_python;
        crew_.run(parts, [&](size_t part) {
            done.at(part).fetch_add(1);
            if (part == failing) throw std::runtime_error("part " + std::to_string(part) + " failed");
        });
        return {done.begin(), done.end()};
    }

  private:
    Crew crew_;
};

}  // namespace

void bind_crew(nb::module_& module) {
    nb::class_<CountingCrew>(module, "Crew")
        .def(nb::init<size_t>(), nb::arg("members"))
        .def("run", &CountingCrew::run, nb::arg("parts"), nb::arg("failing") = nb::none());
}

}  // namespace pocketmt::testing
