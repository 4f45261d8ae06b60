#include "search/job.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "model/runtime/error.h"

namespace pocketmt {

namespace {

// Most decoder rows of a batch, and most bytes of keys, values and rows of the output matrix, which each step reads: a
// larger batch is hardly faster. Fewer bytes stay in caches nearer to the core, and suffice for as many rows as
// products compute at once.
constexpr size_t max_rows = 256;
constexpr size_t max_state_bytes = size_t{16} << 20;
constexpr size_t enough_rows = 12;
constexpr size_t enough_state_bytes = size_t{4} << 20;

// What a sentence takes of a batch.
struct Cost {
    size_t bytes;  // of its state
    size_t rows;
};

// Ends of batches, as large as the limits allow. most_rows: of a batch.
std::vector<size_t> cut_by_limits(const std::vector<Cost>& sentences, size_t most_rows) {
    std::vector<size_t> ends;
    size_t bytes = 0, rows = 0;
    for (size_t i = 0; i < sentences.size(); ++i) {
        bytes += sentences[i].bytes;
        bool full = rows + sentences[i].rows > most_rows || bytes > max_state_bytes ||
                    (rows >= enough_rows && bytes > enough_state_bytes);
        if (rows > 0 && full) {
            ends.push_back(i);
            bytes = sentences[i].bytes;
            rows = 0;
        }
        rows += sentences[i].rows;
    }
    if (rows > 0) ends.push_back(sentences.size());
    return ends;
}

// Ends of `batches` batches of about equal bytes, or of a few more if one would have too many rows.
std::vector<size_t> cut_evenly(const std::vector<Cost>& sentences, size_t most_rows, size_t batches) {
    size_t total = 0;
    for (const Cost& cost : sentences) total += cost.bytes;
    std::vector<size_t> ends;
    size_t bytes = 0, rows = 0, shares = 1;
    for (size_t i = 0; i < sentences.size(); ++i) {
        bytes += sentences[i].bytes;
        rows += sentences[i].rows;
        const bool share = bytes >= total * shares / batches;
        const bool last = i + 1 == sentences.size();
        if (!share && !last && rows + sentences[i + 1].rows <= most_rows) continue;
        ends.push_back(i + 1);
        rows = 0;
        while (shares < batches && bytes >= total * shares / batches) ++shares;
    }
    return ends;
}

void check_generated(const char* name, std::span<const uint32_t> tokens, const Architecture& architecture) {
    check_tokens(tokens, architecture.vocabulary_size);
    for (uint32_t token : tokens) {
        if (architecture.special_ids.contain(token))
            throw Error(std::string(name) + " has the special id " + std::to_string(token));
    }
}

void check_request(const Request& request, const SearchOptions& options, const Architecture& architecture) {
    check_source(request.source, architecture);
    check_generated("a prefix", request.prefix, architecture);
    for (const Term& term : request.terms) {
        if (term.pieces.empty()) throw Error("a term is empty");
        check_generated("a term", term.pieces, architecture);
    }
    if (!request.terms.empty() && options.sampling) throw Error("terms need a beam search: leave sampling out");
    const size_t needed = request.prefix.size() + count_pieces(request.terms);
    if (needed > 0 && options.max_length && needed >= *options.max_length) {
        throw Error("max_length is " + std::to_string(*options.max_length) + ", it must be more than the " +
                    std::to_string(needed) + " pieces of a prefix" +
                    (request.terms.empty() ? "" : " and of the terms of its sentence"));
    }
}

}  // namespace

void check_tokens(std::span<const uint32_t> tokens, size_t vocabulary_size) {
    for (uint32_t token : tokens) {
        if (token >= vocabulary_size) {
            throw Error("token id " + std::to_string(token) + " is not in the vocabulary of " +
                        std::to_string(vocabulary_size) + " pieces");
        }
    }
}

void check_source(std::span<const uint32_t> source, const Architecture& architecture) {
    check_tokens(source, architecture.source_vocabulary_size);
    if (architecture.source_positions(source.size()) == 0)
        throw Error("a source is empty, and this model does not append the end of a sentence to it");
}

Job::Job(const Network& network, std::vector<Request> requests, const SearchOptions& options, size_t workers)
    : requests_(std::move(requests)), options_(options), results_(requests_.size()) {
    check(options_, network.architecture());
    for (const Request& request : requests_) check_request(request, options_, network.architecture());
    order_and_cut(network, workers);
    batches_left_ = batch_ends_.size();
}

void Job::order_and_cut(const Network& network, size_t workers) {
    order_.resize(requests_.size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(), [&](uint32_t left, uint32_t right) {
        return requests_[left].source.size() > requests_[right].source.size();
    });
    std::vector<Cost> costs;
    for (uint32_t sentence : order_) {
        const Request& request = requests_[sentence];
        costs.push_back({state_bytes(network, request, options_), beam_size(options_, request)});
    }
    size_t most_rows = max_rows;
    if (options_.batch_size > 0 && options_.batch_size < max_rows / options_.beam_size)
        most_rows = options_.batch_size * options_.beam_size;
    batch_ends_ = cut_by_limits(costs, most_rows);
    // Every worker gets equally many batches, of about equal bytes.
    if (workers > 1) batch_ends_ = cut_evenly(costs, most_rows, round_up(batch_ends_.size(), workers));
}

bool Job::run_next(const Network& network, Workspace& workspace, const std::function<void()>& poll) {
    size_t batch = next_batch_.fetch_add(1);
    if (batch >= batch_ends_.size()) return false;
    try {
        translate(network, workspace, poll, batch);
    } catch (...) {
        // Stored before the others are cancelled, so that their Cancelled does not replace it.
        std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        cancel();
    }
    workspace.reset();
    std::lock_guard lock(mutex_);
    if (--batches_left_ == 0) done_.notify_all();
    return true;
}

void Job::translate(const Network& network, Workspace& workspace, const std::function<void()>& poll, size_t batch) {
    Monitor monitor(cancelled_, poll);
    monitor.check();
    size_t first = batch == 0 ? 0 : batch_ends_[batch - 1];
    std::span<const uint32_t> sentences = std::span(order_).subspan(first, batch_ends_[batch] - first);
    std::vector<const Request*> requests;
    for (uint32_t sentence : sentences) requests.push_back(&requests_[sentence]);
    auto translations = translate_batch(network, workspace, requests, options_, monitor);
    for (size_t i = 0; i < sentences.size(); ++i) results_[sentences[i]] = std::move(translations[i]);
}

bool Job::wait() {
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, std::chrono::milliseconds(50), [&] { return batches_left_ == 0; });
}

std::vector<std::vector<Translation>> Job::take_results() {
    if (error_) std::rethrow_exception(error_);
    return std::move(results_);
}

}  // namespace pocketmt
