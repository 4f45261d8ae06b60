#include "search/sentence_search.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "model/error.h"

namespace pocketmt {

namespace {

constexpr size_t max_beam_size = 256;
// Live hypotheses soon share all but their last tokens: rows of dead branches are most of what a beam would hold.
constexpr size_t steps_between_cleaning = 8;

double length_factor(size_t length, double length_penalty) {
    return std::pow(static_cast<double>(length), length_penalty);
}

}  // namespace

void check(const SearchOptions& options, size_t vocabulary_size) {
    size_t most = std::min(max_beam_size, vocabulary_size - special_tokens);
    if (options.beam_size < 1 || options.beam_size > most) {
        throw Error("beam_size is " + std::to_string(options.beam_size) + ", it must be 1 to " + std::to_string(most));
    }
    if (options.n_best < 1 || options.n_best > options.beam_size) {
        throw Error("n_best is " + std::to_string(options.n_best) + ", it must be 1 to beam_size (" +
                    std::to_string(options.beam_size) + ")");
    }
    if (!std::isfinite(options.length_penalty)) throw Error("length_penalty must be a finite number");
    if (options.max_length && *options.max_length < 1) throw Error("max_length must be at least 1");
}

SentenceSearch::SentenceSearch(const SearchOptions& options, size_t source_tokens, const Memory& memory,
                               bool attends_history)
    : options_(&options),
      limit_(options.max_length.value_or(2 * source_tokens + 20)),
      memory_(&memory),
      attends_history_(attends_history),
      live_(1) {}

void SentenceSearch::append_rows(std::vector<DecoderRow>& rows, CacheRows& cache) {
    for (size_t i = 0; i < live_count_; ++i) {
        Hypothesis& hypothesis = live_[i];
        hypothesis.history.push_back(cache_rows_.emplace_back(cache.take()));
        uint32_t token = hypothesis.tokens.empty() ? uint32_t{bos_token} : hypothesis.tokens.back();
        rows.push_back({token, memory_, hypothesis.history.data()});
    }
}

void SentenceSearch::consider(size_t hypothesis, uint32_t token, double log_probability) {
    candidates_.push_back(
        {live_[hypothesis].log_probability + log_probability, static_cast<uint32_t>(hypothesis), token});
}

void SentenceSearch::advance(CacheRows& cache) {
    auto better = [](const Candidate& left, const Candidate& right) {
        if (left.log_probability != right.log_probability) return left.log_probability > right.log_probability;
        if (left.hypothesis != right.hypothesis) return left.hypothesis < right.hypothesis;
        return left.token < right.token;
    };
    size_t chosen = std::min(wanted(), candidates_.size());
    auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(chosen);
    std::partial_sort(candidates_.begin(), end, candidates_.end(), better);
    candidates_.resize(chosen);
    for (const Candidate& candidate : candidates_) ++live_[candidate.hypothesis].uses;
    ++step_;
    next_count_ = 0;
    for (const Candidate& candidate : candidates_) {
        if (candidate.token == eos_token || step_ >= limit_) {
            finish_hypothesis(candidate);
        } else {
            continue_hypothesis(candidate);
        }
    }
    candidates_.clear();
    std::swap(live_, next_);
    live_count_ = next_count_;
    if (!attends_history_ || (live_count_ > 1 && step_ % steps_between_cleaning == 0)) give_back_dead_rows(cache);
}

void SentenceSearch::finish_hypothesis(const Candidate& candidate) {
    Hypothesis& parent = live_[candidate.hypothesis];
    --parent.uses;
    Translation& translation = finished_.emplace_back();
    translation.tokens = parent.tokens;
    if (candidate.token != eos_token) translation.tokens.push_back(candidate.token);
    translation.score = candidate.log_probability / length_factor(step_, options_->length_penalty);
}

void SentenceSearch::continue_hypothesis(const Candidate& candidate) {
    Hypothesis& parent = live_[candidate.hypothesis];
    if (next_count_ == next_.size()) next_.emplace_back();
    Hypothesis& child = next_[next_count_++];
    if (--parent.uses == 0) {
        std::swap(child.tokens, parent.tokens);
        std::swap(child.history, parent.history);
    } else {
        child.tokens = parent.tokens;
        child.history = parent.history;
    }
    child.tokens.push_back(candidate.token);
    child.log_probability = candidate.log_probability;
    child.uses = 0;
}

void SentenceSearch::give_back_dead_rows(CacheRows& cache) {
    needed_.clear();
    for (size_t i = 0; i < live_count_; ++i) {
        const std::vector<std::byte*>& history = live_[i].history;
        needed_.insert(needed_.end(), attends_history_ ? history.begin() : history.end() - 1, history.end());
    }
    std::sort(needed_.begin(), needed_.end());
    needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
    for (std::byte* row : cache_rows_) {
        if (!std::binary_search(needed_.begin(), needed_.end(), row)) cache.give_back(row);
    }
    std::swap(cache_rows_, needed_);
}

std::vector<Translation> SentenceSearch::finish(CacheRows& cache) {
    for (std::byte* row : cache_rows_) cache.give_back(row);
    cache_rows_.clear();
    std::stable_sort(finished_.begin(), finished_.end(),
                     [](const Translation& left, const Translation& right) { return left.score > right.score; });
    if (finished_.size() > options_->n_best) finished_.resize(options_->n_best);
    return std::move(finished_);
}

}  // namespace pocketmt
