// A thread pool whose parts count how often they are run.
#include "model/runtime/thread_pool.h"

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

class CountingThreadPool {
  public:
    explicit CountingThreadPool(size_t workers) : pool_(workers) {}

    std::vector<size_t> run(size_t parts, std::optional<size_t> failing) {
        std::vector<std::atomic<size_t>> done(parts);
        nb::gil_scoped_release no_python;
        pool_.run(parts, [&](size_t part) {
            done.at(part).fetch_add(1);
            if (part == failing) throw std::runtime_error("part " + std::to_string(part) + " failed");
        });
        return {done.begin(), done.end()};
    }

  private:
    ThreadPool pool_;
};

}  // namespace

void bind_thread_pool(nb::module_& module) {
    nb::class_<CountingThreadPool>(module, "ThreadPool")
        .def(nb::init<size_t>(), nb::arg("workers"))
        .def("run", &CountingThreadPool::run, nb::arg("parts"), nb::arg("failing") = nb::none());
}

}  // namespace pocketmt::testing
