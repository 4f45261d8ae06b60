#include "search/sentence_search.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "model/runtime/error.h"

namespace pocketmt {

namespace {

constexpr size_t max_beam_size = 256;
// Live hypotheses soon share all but their last tokens, so most states of a beam would be those of dropped hypotheses.
constexpr size_t steps_between_cleaning = 8;

double length_factor(size_t length, double length_penalty) {
    return std::pow(static_cast<double>(length), length_penalty);
}

}  // namespace

void check(const SearchOptions& options, size_t vocabulary_size) {
    size_t most = std::min(max_beam_size, vocabulary_size - SpecialIds::count);
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

SentenceSearch::SentenceSearch(const Network& network, const SearchOptions& options, size_t source_tokens,
                               const CrossAttentionCache& cache)
    : options_(&options),
      limit_(options.max_length.value_or(2 * source_tokens + 20)),
      cross_attention_cache_(&cache),
      first_token_(network.architecture().first_decoder_input),
      eos_(network.architecture().special_ids.eos),
      reads_all_states_(network.reads_all_states()),
      live_(1) {}

void SentenceSearch::append_rows(std::vector<DecoderRow>& rows, StatePool& pool) {
    for (size_t i = 0; i < live_count_; ++i) {
        Hypothesis& hypothesis = live_[i];
        hypothesis.states.push_back(states_.emplace_back(pool.take()));
        uint32_t token = hypothesis.tokens.empty() ? first_token_ : hypothesis.tokens.back();
        rows.push_back({token, cross_attention_cache_, hypothesis.states.data()});
    }
}

void SentenceSearch::consider(size_t hypothesis, uint32_t token, double log_probability) {
    candidates_.push_back(
        {live_[hypothesis].log_probability + log_probability, static_cast<uint32_t>(hypothesis), token});
}

void SentenceSearch::advance(StatePool& pool) {
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
        if (candidate.token == eos_ || step_ >= limit_) {
            finish_hypothesis(candidate);
        } else {
            continue_hypothesis(candidate);
        }
    }
    candidates_.clear();
    std::swap(live_, next_);
    live_count_ = next_count_;
    if (!reads_all_states_ || (live_count_ > 1 && step_ % steps_between_cleaning == 0)) give_back_unused(pool);
}

void SentenceSearch::finish_hypothesis(const Candidate& candidate) {
    Hypothesis& parent = live_[candidate.hypothesis];
    --parent.uses;
    Translation& translation = finished_.emplace_back();
    translation.tokens = parent.tokens;
    if (candidate.token != eos_) translation.tokens.push_back(candidate.token);
    translation.score = candidate.log_probability / length_factor(step_, options_->length_penalty);
}

void SentenceSearch::continue_hypothesis(const Candidate& candidate) {
    Hypothesis& parent = live_[candidate.hypothesis];
    if (next_count_ == next_.size()) next_.emplace_back();
    Hypothesis& child = next_[next_count_++];
    if (--parent.uses == 0) {
        std::swap(child.tokens, parent.tokens);
        std::swap(child.states, parent.states);
    } else {
        child.tokens = parent.tokens;
        child.states = parent.states;
    }
    child.tokens.push_back(candidate.token);
    child.log_probability = candidate.log_probability;
    child.uses = 0;
}

void SentenceSearch::give_back_unused(StatePool& pool) {
    needed_.clear();
    for (size_t i = 0; i < live_count_; ++i) {
        const std::vector<std::byte*>& states = live_[i].states;
        needed_.insert(needed_.end(), reads_all_states_ ? states.begin() : states.end() - 1, states.end());
    }
    std::sort(needed_.begin(), needed_.end());
    needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
    for (std::byte* state : states_) {
        if (!std::binary_search(needed_.begin(), needed_.end(), state)) pool.give_back(state);
    }
    std::swap(states_, needed_);
}

std::vector<Translation> SentenceSearch::finish(StatePool& pool) {
    for (std::byte* state : states_) pool.give_back(state);
    states_.clear();
    std::stable_sort(finished_.begin(), finished_.end(),
                     [](const Translation& left, const Translation& right) { return left.score > right.score; });
    if (finished_.size() > options_->n_best) finished_.resize(options_->n_best);
    return std::move(finished_);
}

}  // namespace pocketmt
