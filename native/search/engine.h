// An ensemble, mostly of one network, and the workers that run it. A thread that waits for a job works on it, so that
// one worker needs no extra thread. `workers` - 1 helper threads take batches, too, and at most `workers` threads
// compute at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "model/ensemble.h"
#include "model/runtime/thread_pool.h"
#include "search/fork_watcher.h"
#include "search/job.h"

namespace pocketmt {

class Engine {
  public:
    // pin_workers: each worker computes on a separate core; throws Error if there are too few.
    Engine(Ensemble ensemble, size_t workers, bool pin_workers = false);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    const Ensemble& ensemble() const { return ensemble_; }

    // Returns a job, on which work begins with `begin` or `finish`. A small one is divided only if all workers are
    // idle: several jobs of one worker each take less time than several that share all workers.
    std::shared_ptr<Job> submit(std::vector<Request> requests, const SearchOptions& options);
    // Lets helpers begin a job, for a caller that will wait for it later; also one that is not parallel. As `finish`,
    // throws Error if helpers had begun and not ended it when this process was forked: they are missing here.
    void begin(const std::shared_ptr<Job>& job);
    // Works on a job until it is done, with helpers if it is divided. `poll` is called about every 50 ms; its
    // exceptions end the job.
    std::vector<std::vector<Translation>> finish(const std::shared_ptr<Job>& job, const std::function<void()>& poll);
    // See forced_logits in batch.h; throws Error if a token id is out of range.
    std::vector<float> logits(const std::vector<uint32_t>& source, const std::vector<uint32_t>& target,
                              const std::function<void()>& poll);

  private:
    // The buffers of a computing thread, and its core if pinned.
    struct Worker {
        EnsembleWorkspace workspace;
        std::optional<int> core;
    };
    class Lease;

    void check_process(const Job& job) const;
    void help();
    static void share_products(Worker& worker, ThreadPool* threads);
    // Lets the thread pool share the worker's products, if all other workers are idle; returns these, which must not
    // compute meanwhile.
    std::vector<std::unique_ptr<Worker>> share(Worker& worker);

    // What threads share, and the threads.
    struct Team {
        std::mutex mutex;
        std::condition_variable jobs_changed;
        std::condition_variable worker_idle;
        std::vector<std::unique_ptr<Worker>> idle_workers;
        std::deque<std::shared_ptr<Job>> jobs;  // with batches for helpers
        size_t waiting = 0;                     // threads that have work and no worker
        std::unique_ptr<ThreadPool> thread_pool;
        bool stopping = false;
        std::vector<std::thread> helpers;
    };

    std::unique_ptr<Team> make_team() const;
    // Replaces the team in a child, as the threads of the other one are not in it.
    void replace_team();

    const size_t workers_;
    const std::vector<int> cores_;  // of pinned workers
    const Ensemble ensemble_;
    std::unique_ptr<Team> team_;
    size_t process_ = 1;  // and one more in each fork
    const ForkWatcher fork_watcher_;
};

}  // namespace pocketmt
