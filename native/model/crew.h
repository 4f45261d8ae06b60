// Threads that help one thread with its products, where there is one sentence and more than one core.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pocketmt {

class Crew {
  public:
    // Fewer members where the system gives no more threads.
    explicit Crew(size_t members);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    size_t members() const { return threads_.size(); }
    std::thread::native_handle_type thread(size_t member) { return threads_[member].native_handle(); }

    // Calls work(0) .. work(parts - 1), each once, on the calling thread and on whichever members are awake: nobody
    // waits for one who has not begun. What a part throws is thrown here, when all have ended. One caller at a time.
    void run(size_t parts, const std::function<void(size_t)>& work);

  private:
    void serve();
    // Does parts of the task until none is left to begin.
    void take_parts();
    void do_part(size_t part);

    // The task is read by whoever has taken a part of it, and written while there is none.
    const std::function<void(size_t)>* work_ = nullptr;
    // Which task it is, in the upper half, so that nobody takes a part of the next one for one of the last; how many of
    // its parts nobody has taken, in the lower half.
    std::atomic<uint64_t> task_ = 0;
    std::atomic<size_t> unfinished_ = 0;
    std::atomic<bool> stopping_ = false;
    std::mutex mutex_;
    std::exception_ptr error_;
    std::vector<std::thread> threads_;
};

}  // namespace pocketmt
