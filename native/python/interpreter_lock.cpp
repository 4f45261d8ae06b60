#include "python/interpreter_lock.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace pocketmt {

namespace {

std::atomic<bool> python_ends = false;
std::atomic<std::thread::id> ending_thread;
std::atomic<size_t> returning = 0;  // threads that wait for the lock

// A thread that comes back to Python, from here until it has the lock.
class Return {
  public:
    Return() {
        ++returning;  // Before the look: either this thread sees that Python ends, or it is waited for.
        if (!kept_from_python()) return;
        --returning;
        while (true) std::this_thread::sleep_for(std::chrono::hours(1));
    }
    ~Return() { --returning; }
    Return(const Return&) = delete;
    Return& operator=(const Return&) = delete;
};

}  // namespace

bool kept_from_python() {
    return python_ends && ending_thread.load() != std::this_thread::get_id();
}

void keep_threads_from_python() {
    ending_thread = std::this_thread::get_id();
    python_ends = true;
    PyThreadState* const state = PyEval_SaveThread();
    // Not for ever: in a process that was forked, threads are counted that are not in it.
    for (int milliseconds = 0; returning > 0 && milliseconds < 1000; ++milliseconds)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    PyEval_RestoreThread(state);
}

WithoutInterpreterLock::~WithoutInterpreterLock() {
    const Return coming_back;
    PyEval_RestoreThread(state_);
}

WithInterpreterLock::WithInterpreterLock() {
    const Return coming_back;
    state_ = PyGILState_Ensure();
}

}  // namespace pocketmt
