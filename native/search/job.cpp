#include "search/job.h"

#include <chrono>
#include <functional>
#include <utility>

#include "model/runtime/error.h"

namespace pocketmt {

Job::Job(const Ensemble& ensemble, std::vector<Request> requests, const SearchOptions& options, size_t workers,
         bool all_idle)
    : requests_(std::move(requests)),
      options_(options),
      batches_(ensemble, requests_, options_, options.parallel ? workers : 1, all_idle),
      results_(requests_.size()),
      batches_left_(batches_.size()) {}

void Job::run(const Ensemble& ensemble, EnsembleWorkspace& workspace, const std::function<void()>& poll) {
    if (!options_.parallel && has_owner_.exchange(true)) return;
    while (run_next(ensemble, workspace, poll)) {
    }
}

bool Job::run_next(const Ensemble& ensemble, EnsembleWorkspace& workspace, const std::function<void()>& poll) {
    size_t batch = next_batch_.fetch_add(1);
    if (batch >= batches_.size()) return false;
    try {
        translate(ensemble, workspace, poll, batch);
        workspace.reset();
    } catch (...) {
        // Stored before the others are cancelled, so that their Cancelled does not replace it.
        std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        cancel();
    }
    std::lock_guard lock(mutex_);
    if (--batches_left_ == 0) done_.notify_all();
    return true;
}

void Job::translate(const Ensemble& ensemble, EnsembleWorkspace& workspace, const std::function<void()>& poll,
                    size_t batch) {
    Monitor monitor(cancelled_, poll);
    monitor.check();
    const std::span<const uint32_t> sentences = batches_[batch];
    std::vector<const Request*> requests;
    for (uint32_t sentence : sentences) requests.push_back(&requests_[sentence]);
    auto translations = translate_batch(ensemble, workspace, requests, options_, monitor);
    for (size_t i = 0; i < sentences.size(); ++i) results_[sentences[i]] = std::move(translations[i]);
}

bool Job::wait() {
    if (done()) return true;
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, std::chrono::milliseconds(50), [&] { return done(); });
}

std::vector<std::vector<Translation>> Job::take_results() {
    if (error_) std::rethrow_exception(error_);
    return std::move(results_);
}

}  // namespace pocketmt
