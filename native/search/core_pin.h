// Pinning of threads to processor cores.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace pocketmt {

// The first `count` cores that this process may run on. Throws Error if it has fewer.
std::vector<int> own_cores(size_t count);

// Pins a thread to a core; false if the core is not available.
bool keep_to_core(pthread_t thread, int core);

// Pins the calling thread to a core and restores its former cores when destroyed. Does nothing without a core.
class CorePin {
  public:
    explicit CorePin(std::optional<int> core);
    ~CorePin();
    CorePin(const CorePin&) = delete;
    CorePin& operator=(const CorePin&) = delete;

  private:
    std::optional<cpu_set_t> before_;
};

}  // namespace pocketmt
