// Pinning of threads to processor cores, on Linux.
#pragma once

#if defined(__linux__)
#include <sched.h>
#endif

#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

namespace pocketmt {

// The first `count` cores that this process may run on. Throws Error if it has fewer, or if the system cannot pin
// threads to cores.
std::vector<int> own_cores(size_t count);

// Pins a thread to a core; false if the core is not available.
bool keep_to_core(std::thread::native_handle_type thread, int core);

// Pins the calling thread to a core and restores its former cores when destroyed. Does nothing without a core.
class CorePin {
  public:
    explicit CorePin(std::optional<int> core);
    ~CorePin();
    CorePin(const CorePin&) = delete;
    CorePin& operator=(const CorePin&) = delete;

  private:
#if defined(__linux__)
    std::optional<cpu_set_t> before_;
#endif
};

}  // namespace pocketmt
