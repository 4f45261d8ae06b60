// A thread pool whose parts count how often they are run.
#include "model/runtime/thread_pool.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "testing/arrays.h"

namespace nb = nanobind;

namespace pocketmt::testing {

namespace {

// Processor time of this thread.
double processor_seconds() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

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

    // The processor time of a caller that waits while a worker sleeps.
    double processor_seconds_of_waiting(double seconds) {
        std::atomic<bool> begun = false;
        const auto caller = std::this_thread::get_id();
        nb::gil_scoped_release no_python;
        const double before = processor_seconds();
        pool_.run(2, [&](size_t) {
            if (std::this_thread::get_id() == caller) {
                while (!begun) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            } else {
                begun = true;
                std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
            }
        });
        return processor_seconds() - before;
    }

  private:
    ThreadPool pool_;
};

}  // namespace

void bind_thread_pool(nb::module_& module) {
    nb::class_<CountingThreadPool>(module, "ThreadPool")
        .def(nb::init<size_t>(), nb::arg("workers"))
        .def("run", &CountingThreadPool::run, nb::arg("parts"), nb::arg("failing") = nb::none())
        .def("processor_seconds_of_waiting", &CountingThreadPool::processor_seconds_of_waiting, nb::arg("seconds"));
}

}  // namespace pocketmt::testing
