// Sentences to translate, divided into batches for the workers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "search/batch.h"

namespace pocketmt {

// Throws Error if a token id is out of range.
void check_tokens(std::span<const uint32_t> tokens, size_t vocabulary_size);
// Throws Error if a token id is out of range, or nothing could be encoded.
void check_source(std::span<const uint32_t> source, const Architecture& architecture);

class Job {
  public:
    // Throws Error if an option or a token id is out of range.
    Job(const Network& network, std::vector<Request> requests, const SearchOptions& options, size_t workers);

    // Translates the next batch that no worker has taken; false if none is left.
    bool run_next(const Network& network, Workspace& workspace, const std::function<void()>& poll);
    bool all_taken() const { return next_batch_.load() >= batch_ends_.size(); }
    // Whether it is a single batch.
    bool undivided() const { return batch_ends_.size() <= 1; }
    void cancel() { cancelled_ = true; }

    // Waits at most 50 ms for batches that other workers have taken; true if all are done.
    bool wait();
    // When all batches are done: the translations of each sentence. Throws the first error of a batch.
    std::vector<std::vector<Translation>> take_results();

  private:
    void order_and_cut(const Network& network, size_t workers);
    void translate(const Network& network, Workspace& workspace, const std::function<void()>& poll, size_t batch);

    std::vector<Request> requests_;
    SearchOptions options_;
    std::vector<uint32_t> order_;     // sentences, longest first
    std::vector<size_t> batch_ends_;  // in order_
    std::vector<std::vector<Translation>> results_;
    std::atomic<size_t> next_batch_ = 0;
    std::atomic<bool> cancelled_ = false;
    std::mutex mutex_;
    std::condition_variable done_;
    size_t batches_left_ = 0;
    std::exception_ptr error_;
};

}  // namespace pocketmt
