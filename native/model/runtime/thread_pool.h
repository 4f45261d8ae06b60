// Threads that share the matrix products of one thread: for one sentence on several cores.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "model/runtime/product_sharing.h"

namespace pocketmt {

class ThreadPool final : public ProductSharing {
  public:
    // Starts fewer workers if the system has no more threads.
    explicit ThreadPool(size_t workers);
    ~ThreadPool() override;
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    size_t workers() const override { return threads_.size(); }
    std::thread::native_handle_type thread(size_t worker) { return threads_[worker].native_handle(); }

    // Runs parts on the calling thread and on the workers that are awake; workers that have not begun are not waited
    // for. One caller at a time.
    void run(size_t parts, const std::function<void(size_t)>& work) override;

  private:
    void serve();
    // Does parts of the task until all are taken.
    void take_parts();
    void do_part(size_t part);

    // Read by threads that have taken a part of the task, and written only between tasks.
    const std::function<void(size_t)>* work_ = nullptr;
    // Upper half: number of the task, so that no part of the next task is mistaken for one of the last. Lower half: how
    // many parts are not taken yet.
    std::atomic<uint64_t> task_ = 0;
    std::atomic<size_t> unfinished_ = 0;
    std::atomic<bool> stopping_ = false;
    std::mutex mutex_;
    std::exception_ptr error_;
    std::vector<std::thread> threads_;
};

}  // namespace pocketmt
