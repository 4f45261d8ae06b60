#include "model/crew.h"

#include <system_error>
#include <utility>

namespace pocketmt {

namespace {

constexpr uint64_t one_task = uint64_t{1} << 32;
constexpr uint64_t parts_mask = one_task - 1;
// Between two products of a sentence lie some microseconds: less than it takes to wake a thread up.
constexpr int looks_before_sleep = 4000;

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

}  // namespace

Crew::Crew(size_t members) {
    threads_.reserve(members);
    try {
        for (size_t i = 0; i < members; ++i) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {  // no more threads are to be had: those that are there do
    }
}

Crew::~Crew() {
    stopping_ = true;
    task_.fetch_add(one_task);
    task_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Crew::run(size_t parts, const std::function<void(size_t)>& work) {
    work_ = &work;
    unfinished_.store(parts, std::memory_order_relaxed);
    uint64_t next = (task_.load(std::memory_order_relaxed) & ~parts_mask) + one_task;
    task_.store(next | parts, std::memory_order_release);
    task_.notify_all();
    take_parts();
    while (unfinished_.load(std::memory_order_acquire) > 0) pause();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Crew::serve() {
    while (!stopping_) {
        uint64_t seen = task_.load(std::memory_order_acquire);
        if ((seen & parts_mask) > 0) {
            take_parts();
            continue;
        }
        int looks = 0;
        while (task_.load(std::memory_order_relaxed) == seen && looks++ < looks_before_sleep) pause();
        if (looks > looks_before_sleep) task_.wait(seen);
    }
}

void Crew::take_parts() {
    uint64_t task = task_.load(std::memory_order_acquire);
    while ((task & parts_mask) > 0) {
        if (!task_.compare_exchange_weak(task, task - 1, std::memory_order_acq_rel)) continue;
        do_part((task & parts_mask) - 1);
        unfinished_.fetch_sub(1, std::memory_order_release);
        task = task_.load(std::memory_order_acquire);
    }
}

void Crew::do_part(size_t part) {
    try {
        (*work_)(part);
    } catch (...) {
        std::lock_guard lock(mutex_);
        error_ = std::current_exception();
    }
}

}  // namespace pocketmt
