#include "search/engine.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <iterator>
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
    // alone: whether other workers have no part in this work. Throws Error if this thread has a worker already: it
    // would wait for itself.
    Lease(Engine& engine, bool alone) : engine_(engine), outer_(innermost_), taken_(engine) {
        for (const Lease* lease = outer_; lease != nullptr; lease = lease->outer_) {
            if (&lease->engine_ == &engine)
                throw Error("a signal handler cannot translate while the thread that it interrupts does");
        }
        std::unique_lock lock(engine.team_->mutex);
        auto idle = [&] { return !engine.team_->idle_workers.empty(); };
        ++engine.team_->waiting;
        bool found = engine.team_->worker_idle.wait_for(lock, std::chrono::milliseconds(50), idle);
        --engine.team_->waiting;
        if (!found) return;
        taken_.worker = std::move(engine.team_->idle_workers.back());
        engine.team_->idle_workers.pop_back();
        pin_.emplace(taken_.worker->core);
        if (alone) taken_.sharing = engine.share(*taken_.worker);
        innermost_ = this;
    }
    ~Lease() {
        if (taken_.worker) innermost_ = outer_;
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    EnsembleWorkspace* get() { return taken_.worker ? &taken_.worker->workspace : nullptr; }

  private:
    // Makes the workers idle again, also if the constructor of the lease throws.
    struct Taken {
        explicit Taken(Engine& engine) : engine(engine), team(*engine.team_) {}
        ~Taken() {
            if (!worker) return;
            // A signal handler has forked: the team of the child has as many workers without these.
            if (engine.team_.get() != &team) return;
            worker->workspace.reset();
            std::lock_guard lock(team.mutex);
            share_products(*worker, nullptr);
            for (std::unique_ptr<Worker>& each : sharing) team.idle_workers.push_back(std::move(each));
            team.idle_workers.push_back(std::move(worker));
            if (team.waiting > 0) team.worker_idle.notify_all();
        }
        Taken(const Taken&) = delete;
        Taken& operator=(const Taken&) = delete;

        Engine& engine;
        Team& team;  // that the workers belong to
        std::unique_ptr<Worker> worker;
        std::vector<std::unique_ptr<Worker>> sharing;
    };

    inline static thread_local const Lease* innermost_ = nullptr;  // the last one of this thread that has a worker

    Engine& engine_;
    const Lease* const outer_;  // the one before, of another engine; null: none
    Taken taken_;
    std::optional<CorePin> pin_;
};

Engine::Engine(Ensemble ensemble, size_t workers, bool pin_workers)
    : workers_(checked_workers(workers)),
      cores_(own_cores(pin_workers ? workers_ : 0)),
      ensemble_(std::move(ensemble)),
      team_(make_team()),
      fork_watcher_([this] { replace_team(); }) {}

std::unique_ptr<Engine::Team> Engine::make_team() const {
    auto team = std::make_unique<Team>();
    for (size_t i = 0; i < workers_; ++i) {
        std::optional<int> core = cores_.empty() ? std::nullopt : std::optional(cores_[i]);
        team->idle_workers.push_back(std::make_unique<Worker>(ensemble_.make_workspace(), core));
    }
    return team;
}

void Engine::replace_team() {
    // The other one cannot be destroyed: that would wait for its threads and locks.
    static_cast<void>(team_.release());
    team_ = make_team();
    ++process_;
}

Engine::~Engine() {
    {
        std::lock_guard lock(team_->mutex);
        team_->stopping = true;
        for (const std::shared_ptr<Job>& job : team_->jobs) job->cancel();
        team_->jobs_changed.notify_all();
    }
    for (std::thread& helper : team_->helpers) helper.join();
}

std::shared_ptr<Job> Engine::submit(std::vector<Request> requests, const SearchOptions& options) {
    bool all_idle;
    {
        std::lock_guard lock(team_->mutex);
        all_idle = team_->idle_workers.size() == workers_;
    }
    return std::make_shared<Job>(ensemble_, std::move(requests), options, workers_, all_idle);
}

void Engine::check_process(const Job& job) const {
    if (!job.done() && job.helped_by() != 0 && job.helped_by() != process_)
        throw Error("this translation was begun before the process was forked: translate its lines again");
}

void Engine::begin(const std::shared_ptr<Job>& job) {
    check_process(*job);
    if (workers_ == 1) return;
    std::lock_guard lock(team_->mutex);
    BlockedSignals blocked;
    try {
        while (team_->helpers.size() + 1 < workers_) team_->helpers.emplace_back([this] { help(); });
    } catch (const std::system_error&) {
        // The system has no more threads: the existing ones, at least the caller's, do the work.
    }
    bool queued = std::find(team_->jobs.begin(), team_->jobs.end(), job) != team_->jobs.end();
    if (team_->helpers.empty() || queued || job->all_taken()) return;
    team_->jobs.push_back(job);
    team_->jobs_changed.notify_all();
}

std::vector<std::vector<Translation>> Engine::finish(const std::shared_ptr<Job>& job,
                                                     const std::function<void()>& poll) {
    check_process(*job);
    if (job->parallel() && !job->undivided()) begin(job);
    // A signal handler may have forked.
    const std::function<void()> checked_poll = [&] {
        poll();
        check_process(*job);
    };
    try {
        while (!job->all_taken()) {
            Lease lease(*this, job->parallel() && job->undivided());
            if (lease.get() == nullptr) {
                checked_poll();
                continue;
            }
            job->run(ensemble_, *lease.get(), checked_poll);
        }
        while (!job->wait()) checked_poll();
    } catch (...) {
        job->cancel();
        throw;
    }
    return job->take_results();
}

std::vector<float> Engine::logits(const std::vector<uint32_t>& source, const std::vector<uint32_t>& target,
                                  const std::function<void()>& poll) {
    check_source(source, ensemble_.architecture());
    check_tokens(target, ensemble_.architecture().vocabulary_size);
    std::atomic<bool> cancelled = false;
    while (true) {
        Lease lease(*this, true);
        if (lease.get() != nullptr) {
            Monitor monitor(cancelled, poll);
            return forced_logits(ensemble_, *lease.get(), source, target, monitor);
        }
        poll();
    }
}

void Engine::share_products(Worker& worker, ThreadPool* threads) {
    for (Workspace& workspace : worker.workspace.each) workspace.product.sharing = threads;
}

std::vector<std::unique_ptr<Engine::Worker>> Engine::share(Worker& worker) {
    bool others_have_work = team_->waiting > 0 || team_->jobs.size() > 1 || team_->idle_workers.size() + 1 < workers_;
    if (workers_ == 1 || others_have_work) return {};
    if (!team_->thread_pool) {
        BlockedSignals blocked;
        team_->thread_pool = std::make_unique<ThreadPool>(workers_ - 1);
    }
    for (size_t i = 0; i < team_->idle_workers.size(); ++i) {
        if (i < team_->thread_pool->workers() && team_->idle_workers[i]->core)
            keep_to_core(team_->thread_pool->thread(i), *team_->idle_workers[i]->core);
    }
    share_products(worker, team_->thread_pool.get());
    std::vector<std::unique_ptr<Worker>>& idle = team_->idle_workers;
    std::vector<std::unique_ptr<Worker>> others(std::move_iterator(idle.begin()), std::move_iterator(idle.end()));
    idle.clear();  // which keeps its memory: they can be put back without any
    return others;
}

void Engine::help() {
    while (true) {
        std::shared_ptr<Job> job;
        {
            std::unique_lock lock(team_->mutex);
            team_->jobs_changed.wait(lock, [&] { return team_->stopping || !team_->jobs.empty(); });
            if (team_->stopping) return;
            if (team_->jobs.front()->all_taken()) {
                team_->jobs.pop_front();
                continue;
            }
            job = team_->jobs.front();
        }
        try {
            Lease lease(*this, job->parallel() && job->undivided());
            if (lease.get() == nullptr) continue;
            job->let_help(process_);  // before it takes a batch, as another thread may fork right after that
            job->run(ensemble_, *lease.get(), {});
        } catch (const std::exception&) {
            // There is too little memory, or the like: the thread that waits for the job does the rest.
            std::lock_guard lock(team_->mutex);
            std::erase(team_->jobs, job);
        }
    }
}

}  // namespace pocketmt
