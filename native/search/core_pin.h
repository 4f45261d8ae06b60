// A thread kept to one processor core for a while.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace pocketmt {

// The first `count` cores that this process may run on. Throws Error where it has fewer.
std::vector<int> own_cores(size_t count);

// Keeps a thread to a core from now on; false where the core is not to be had.
bool keep_to_core(pthread_t thread, int core);

// Keeps the calling thread to a core as long as it lives; then the thread may run where it might before. Without a core
// it does nothing.
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
