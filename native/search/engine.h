// A network and the workers that run it. Threads that wait for a job work on it themselves, so that one worker needs no
// thread of its own; `workers` - 1 helpers take batches beside them, and no more than `workers` compute at once.
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

#include "model/network.h"
#include "search/job.h"

namespace pocketmt {

class Engine {
  public:
    // pin_workers: each worker computes on a core of its own; throws Error where there are too few.
    Engine(const Kernels& kernels, const Architecture& architecture, const TensorSource& source, size_t workers,
           unsigned activation_bits, const StoredShortlist& shortlist = {}, bool pin_workers = false);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    const Network& network() const { return network_; }

    // Starts a job; helpers begin at once.
    std::shared_ptr<Job> submit(std::vector<std::vector<uint32_t>> sources, const SearchOptions& options);
    // Works on a job until it is done. `poll` is called every 50 ms or so; what it throws ends the job.
    std::vector<std::vector<Translation>> finish(Job& job, const std::function<void()>& poll);
    // See forced_logits in batch.h; throws Error where a token id is out of range.
    std::vector<float> logits(const std::vector<uint32_t>& source, const std::vector<uint32_t>& target,
                              const std::function<void()>& poll);

  private:
    // What a thread needs to compute, and where it does.
    struct Worker {
        Workspace workspace;
        std::optional<int> core;
    };
    class Lease;

    void help();
    // Lets the worker's products be shared by all workers, where none of them has anything else to do; returns those
    // that must not compute meanwhile.
    std::vector<std::unique_ptr<Worker>> share(Worker& worker);

    const size_t workers_;
    const std::vector<int> cores_;  // of pinned workers
    const Network network_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::unique_ptr<Worker>> idle_workers_;
    std::deque<std::shared_ptr<Job>> jobs_;  // with batches that helpers may take
    size_t waiting_ = 0;                     // threads that have work and no worker
    std::unique_ptr<Crew> crew_;
    bool stopping_ = false;
    std::vector<std::thread> helpers_;
};

}  // namespace pocketmt
