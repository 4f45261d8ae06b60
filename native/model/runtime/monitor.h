// Interruption of long work: a flag that any thread may set, and a poll by the thread that waits for the result.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

#include "model/runtime/error.h"

namespace pocketmt {

class Monitor {
  public:
    // `poll` may be empty; it is called every 50 ms at most and may throw.
    Monitor(const std::atomic<bool>& cancelled, std::function<void()> poll)
        : cancelled_(cancelled), poll_(std::move(poll)), next_poll_(Clock::now() + poll_interval) {}

    // Throws Cancelled once the flag is set. To be called every few milliseconds of work.
    void check() {
        if (cancelled_.load(std::memory_order_relaxed)) throw Cancelled();
        if (poll_ && Clock::now() >= next_poll_) {
            poll_();
            next_poll_ = Clock::now() + poll_interval;
        }
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds poll_interval{50};

    const std::atomic<bool>& cancelled_;
    std::function<void()> poll_;
    Clock::time_point next_poll_;
};

}  // namespace pocketmt
