#include "search/engine.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <system_error>
#include <utility>

#include "model/runtime/error.h"
#include "search/core_pin.h"

namespace pocketmt {

namespace {

constexpr size_t max_workers = 1024;

size_t checked_workers(size_t workers) {
    if (workers < 1 || workers > max_workers) {
        throw Error("workers is " + std::to_string(workers) + ", it must be 1 to " + std::to_string(max_workers));
    }
    return workers;
}

// Blocks signals in new threads: the waiting thread gets them and runs Python's handlers.
class BlockedSignals {
  public:
    BlockedSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_;
};

}  // namespace

// A worker, taken while a thread computes; empty if none was idle within 50 ms.
class Engine::Lease {
  public:
    // alone: whether other workers have no part in this work.
    Lease(Engine& engine, bool alone) : engine_(engine) {
        std::unique_lock lock(engine.mutex_);
        auto idle = [&] { return !engine.idle_workers_.empty(); };
        ++engine.waiting_;
        bool found = engine.worker_idle_.wait_for(lock, std::chrono::milliseconds(50), idle);
        --engine.waiting_;
        if (!found) return;
        worker_ = std::move(engine.idle_workers_.back());
        engine.idle_workers_.pop_back();
        pin_.emplace(worker_->core);
        if (alone) sharing_ = engine.share(*worker_);
    }
    ~Lease() {
        if (!worker_) return;
        worker_->workspace.reset();
        std::lock_guard lock(engine_.mutex_);
        worker_->workspace.product.sharing = nullptr;
        for (std::unique_ptr<Worker>& worker : sharing_) engine_.idle_workers_.push_back(std::move(worker));
        engine_.idle_workers_.push_back(std::move(worker_));
        if (engine_.waiting_ > 0) engine_.worker_idle_.notify_all();
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    Workspace* get() { return worker_ ? &worker_->workspace : nullptr; }

  private:
    Engine& engine_;
    std::unique_ptr<Worker> worker_;
    std::vector<std::unique_ptr<Worker>> sharing_;
    std::optional<CorePin> pin_;
};

Engine::Engine(const Kernels& kernels, const Description& description, const TensorSource& source, size_t workers,
               unsigned activation_bits, const StoredShortlist& shortlist, bool pin_workers)
    : workers_(checked_workers(workers)),
      cores_(own_cores(pin_workers ? workers_ : 0)),
      network_(kernels, description, source, activation_bits, shortlist) {
    for (size_t i = 0; i < workers_; ++i) {
        std::optional<int> core = cores_.empty() ? std::nullopt : std::optional(cores_[i]);
        idle_workers_.push_back(std::make_unique<Worker>(Workspace(network_.state_size()), core));
    }
}

Engine::~Engine() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
        for (const std::shared_ptr<Job>& job : jobs_) job->cancel();
        jobs_changed_.notify_all();
    }
    for (std::thread& helper : helpers_) helper.join();
}

std::shared_ptr<Job> Engine::submit(std::vector<Request> requests, const SearchOptions& options) {
    bool all_idle;
    {
        std::lock_guard lock(mutex_);
        all_idle = idle_workers_.size() == workers_;
    }
    return std::make_shared<Job>(network_, std::move(requests), options, workers_, all_idle);
}

void Engine::begin(const std::shared_ptr<Job>& job) {
    if (workers_ == 1) return;
    std::lock_guard lock(mutex_);
    BlockedSignals blocked;
    try {
        while (helpers_.size() + 1 < workers_) helpers_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {
        // The system has no more threads: the existing ones, at least the caller's, do the work.
    }
    bool queued = std::find(jobs_.begin(), jobs_.end(), job) != jobs_.end();
    if (helpers_.empty() || queued || job->all_taken()) return;
    jobs_.push_back(job);
    jobs_changed_.notify_all();
}

std::vector<std::vector<Translation>> Engine::finish(const std::shared_ptr<Job>& job,
                                                     const std::function<void()>& poll) {
    if (job->parallel() && !job->undivided()) begin(job);
    try {
        while (!job->all_taken()) {
            Lease lease(*this, job->parallel() && job->undivided());
            if (lease.get() == nullptr) {
                poll();
                continue;
            }
            while (job->run_next(network_, *lease.get(), poll)) {
            }
        }
        while (!job->wait()) poll();
    } catch (...) {
        job->cancel();
        throw;
    }
    return job->take_results();
}

std::vector<float> Engine::logits(const std::vector<uint32_t>& source, const std::vector<uint32_t>& target,
                                  const std::function<void()>& poll) {
    check_source(source, network_.architecture());
    check_tokens(target, network_.architecture().vocabulary_size);
    std::atomic<bool> cancelled = false;
    while (true) {
        Lease lease(*this, true);
        if (lease.get() != nullptr) {
            Monitor monitor(cancelled, poll);
            return forced_logits(network_, *lease.get(), source, target, monitor);
        }
        poll();
    }
}

std::vector<std::unique_ptr<Engine::Worker>> Engine::share(Worker& worker) {
    bool others_have_work = waiting_ > 0 || jobs_.size() > 1 || idle_workers_.size() + 1 < workers_;
    if (workers_ == 1 || others_have_work) return {};
    if (!thread_pool_) {
        BlockedSignals blocked;
        thread_pool_ = std::make_unique<ThreadPool>(workers_ - 1);
    }
    for (size_t i = 0; i < idle_workers_.size(); ++i) {
        if (i < thread_pool_->workers() && idle_workers_[i]->core)
            keep_to_core(thread_pool_->thread(i), *idle_workers_[i]->core);
    }
    worker.workspace.product.sharing = thread_pool_.get();
    return std::exchange(idle_workers_, {});
}

void Engine::help() {
    while (true) {
        std::shared_ptr<Job> job;
        {
            std::unique_lock lock(mutex_);
            jobs_changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
            if (stopping_) return;
            if (jobs_.front()->all_taken()) {
                jobs_.pop_front();
                continue;
            }
            job = jobs_.front();
        }
        Lease lease(*this, job->parallel() && job->undivided());
        if (lease.get() == nullptr) continue;
        while (job->run_next(network_, *lease.get(), {})) {
        }
    }
}

}  // namespace pocketmt
