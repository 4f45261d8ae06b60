// Sentences to translate, and the batches that the workers take.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "search/batches.h"

namespace pocketmt {

class Job {
  public:
    // all_idle: whether the workers have nothing else to do. Throws Error if an option or a token id is out of range.
    Job(const Ensemble& ensemble, std::vector<Request> requests, const SearchOptions& options, size_t workers,
        bool all_idle);

    // Translates the batches that no thread has taken; of a job that is not parallel, the first thread takes all.
    void run(const Ensemble& ensemble, EnsembleWorkspace& workspace, const std::function<void()>& poll);
    // Whether nothing is left for further threads.
    bool all_taken() const {
        return next_batch_.load() >= batches_.size() || (!options_.parallel && has_owner_.load());
    }
    // Whether several workers may work on it.
    bool parallel() const { return options_.parallel; }
    // Whether it is a single batch.
    bool undivided() const { return batches_.size() <= 1; }
    void cancel() { cancelled_ = true; }
    // Whether all batches are done. Takes no lock: threads that are missing in a fork of the process may hold it.
    bool done() const { return batches_left_.load() == 0; }
    // The number of the process whose helpers may have taken batches, see Engine; 0: none have.
    size_t helped_by() const { return helped_by_.load(); }
    void let_help(size_t process) { helped_by_ = process; }

    // Waits at most 50 ms for batches that other workers have taken; true if all are done.
    bool wait();
    // When all batches are done: the translations of each sentence. Throws the first error of a batch.
    std::vector<std::vector<Translation>> take_results();

  private:
    // Translates the next batch; false if none is left.
    bool run_next(const Ensemble& ensemble, EnsembleWorkspace& workspace, const std::function<void()>& poll);
    void translate(const Ensemble& ensemble, EnsembleWorkspace& workspace, const std::function<void()>& poll,
                   size_t batch);

    std::vector<Request> requests_;
    SearchOptions options_;
    Batches batches_;
    std::vector<std::vector<Translation>> results_;
    std::atomic<size_t> next_batch_ = 0;
    std::atomic<bool> has_owner_ = false;  // whether a thread runs it; only if it is not parallel
    std::atomic<bool> cancelled_ = false;
    std::atomic<size_t> helped_by_ = 0;
    std::mutex mutex_;
    std::condition_variable done_;
    std::atomic<size_t> batches_left_ = 0;  // changed with the mutex locked, for threads that wait
    std::exception_ptr error_;
};

}  // namespace pocketmt
