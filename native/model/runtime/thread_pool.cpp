#include "model/runtime/thread_pool.h"

#include <system_error>
#include <utility>

namespace pocketmt {

namespace {

constexpr uint64_t one_task = uint64_t{1} << 32;
constexpr uint64_t parts_mask = one_task - 1;
// Two products of a sentence are microseconds apart, and so are the ends of the parts of one: less than it takes to
// wake up a thread. A thread that waits longer sleeps: another program may have the core of the thread that it waits
// for.
constexpr int looks_before_sleep = 4000;

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// Returns after `value` has changed from `old`. A thread that changes it for the last time must notify.
template <typename Value>
void wait_for_change(const std::atomic<Value>& value, Value old) {
    for (int looks = 0; looks < looks_before_sleep; ++looks) {
        if (value.load(std::memory_order_relaxed) != old) return;
        pause();
    }
    value.wait(old, std::memory_order_relaxed);
}

}  // namespace

ThreadPool::ThreadPool(size_t workers) {
    threads_.reserve(workers);
    try {
        for (size_t i = 0; i < workers; ++i) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {  // the system has no more threads: the pool works with those it got
    }
}

ThreadPool::~ThreadPool() {
    stopping_ = true;
    task_.fetch_add(one_task);
    task_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(size_t parts, const std::function<void(size_t)>& work) {
    work_ = &work;
    unfinished_.store(parts, std::memory_order_relaxed);
    uint64_t next = (task_.load(std::memory_order_relaxed) & ~parts_mask) + one_task;
    task_.store(next | parts, std::memory_order_release);
    task_.notify_all();
    take_parts();
    while (const size_t unfinished = unfinished_.load(std::memory_order_acquire))
        wait_for_change(unfinished_, unfinished);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::serve() {
    for (;;) {
        // Read before stopping_: the destructor sets stopping_ and then changes the task, so a worker that still finds
        // stopping_ false has a task whose change wakes it up.
        const uint64_t seen = task_.load(std::memory_order_acquire);
        if (stopping_) return;
        if ((seen & parts_mask) > 0) {
            take_parts();
            continue;
        }
        wait_for_change(task_, seen);
    }
}

void ThreadPool::take_parts() {
    uint64_t task = task_.load(std::memory_order_acquire);
    while ((task & parts_mask) > 0) {
        if (!task_.compare_exchange_weak(task, task - 1, std::memory_order_acq_rel)) continue;
        do_part((task & parts_mask) - 1);
        if (unfinished_.fetch_sub(1, std::memory_order_release) == 1) unfinished_.notify_one();
        task = task_.load(std::memory_order_acquire);
    }
}

void ThreadPool::do_part(size_t part) {
    try {
        (*work_)(part);
    } catch (...) {
        std::lock_guard lock(mutex_);
        error_ = std::current_exception();
    }
}

}  // namespace pocketmt
