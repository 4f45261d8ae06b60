#include "search/core_pin.h"

#if defined(__linux__)
#include <pthread.h>
#endif

#include <string>

#include "model/runtime/error.h"

namespace pocketmt {

#if defined(__linux__)

std::vector<int> own_cores(size_t count) {
    cpu_set_t allowed;
    std::vector<int> cores;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        for (int core = 0; core < CPU_SETSIZE && cores.size() < count; ++core) {
            if (CPU_ISSET(core, &allowed)) cores.push_back(core);
        }
    }
    if (cores.size() < count) {
        throw Error("pin_workers: " + std::to_string(count) +
                    " workers cannot each have a core, this process may use " + std::to_string(cores.size()));
    }
    return cores;
}

bool keep_to_core(std::thread::native_handle_type thread, int core) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    return pthread_setaffinity_np(thread, sizeof(only), &only) == 0;
}

// If the core is no longer available, the thread runs on any allowed core.
CorePin::CorePin(std::optional<int> core) {
    cpu_set_t before;
    if (!core || pthread_getaffinity_np(pthread_self(), sizeof(before), &before) != 0) return;
    if (keep_to_core(pthread_self(), *core)) before_ = before;
}

CorePin::~CorePin() {
    if (before_) pthread_setaffinity_np(pthread_self(), sizeof(*before_), &*before_);
}

#else

std::vector<int> own_cores(size_t count) {
    if (count > 0) throw Error("pin_workers: this system cannot pin threads to cores, Linux can");
    return {};
}

bool keep_to_core(std::thread::native_handle_type, int) {
    return false;
}

CorePin::CorePin(std::optional<int>) {}

CorePin::~CorePin() = default;

#endif

}  // namespace pocketmt
