#include "search/fork_watcher.h"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

#include <mutex>
#include <utility>
#include <vector>

namespace pocketmt {

namespace {

struct Watchers {
    std::mutex mutex;
    std::vector<const ForkWatcher*> list;
};

Watchers& watchers() {
    // Never destroyed: a thread may fork, or destroy a watcher, while the process ends.
    static Watchers& all = *new Watchers;
    return all;
}

#if defined(__unix__) || defined(__APPLE__)

void tell_child() {
    for (const ForkWatcher* each : watchers().list) each->tell();
    watchers().mutex.unlock();
}

void watch_forks() {
    // The mutex is held during the fork, so that the child finds the list whole.
    static const int registered =
        pthread_atfork([] { watchers().mutex.lock(); }, [] { watchers().mutex.unlock(); }, tell_child);
    static_cast<void>(registered);  // Without memory for it, forks are not noticed.
}

#else

void watch_forks() {}

#endif

}  // namespace

ForkWatcher::ForkWatcher(std::function<void()> in_child) : in_child_(std::move(in_child)) {
    watch_forks();
    std::lock_guard lock(watchers().mutex);
    watchers().list.push_back(this);
}

ForkWatcher::~ForkWatcher() {
    std::lock_guard lock(watchers().mutex);
    std::erase(watchers().list, this);
}

}  // namespace pocketmt
