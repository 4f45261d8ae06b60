#include "search/sentence_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "search/pieces/sampling.h"

namespace pocketmt {

namespace {

// Live hypotheses soon share all but their last tokens, so most states of a beam would be those of dropped hypotheses.
constexpr size_t steps_between_cleaning = 8;

double length_factor(size_t length, double length_penalty) {
    return std::pow(static_cast<double>(length), length_penalty);
}

}  // namespace

SentenceSearch::SentenceSearch(const Network& network, const SearchOptions& options, const Request& request,
                               const CrossAttentionCache& cache)
    : options_(&options),
      request_(&request),
      constrained_(has_constraints(options)),
      limit_(options.max_length.value_or(2 * request.source.size() + 20 + request.prefix.size())),
      cross_attention_cache_(&cache),
      first_token_(network.architecture().first_decoder_input),
      eos_(network.architecture().special_ids.eos),
      reads_all_states_(network.reads_all_states()),
      live_count_(options.sampling ? options.beam_size : 1),
      live_(live_count_) {
    if (!options.sampling) return;
    for (size_t sample = 0; sample < live_count_; ++sample)
        live_[sample].sample_key = sample_key(options.sampling->seed, request.source, sample);
}

void SentenceSearch::append_rows(std::vector<DecoderRow>& rows, StatePool& pool) {
    for (size_t i = 0; i < live_count_; ++i) {
        History& history = live_[i].history;
        history.states.push_back(states_.emplace_back(pool.take()));
        const std::optional<uint32_t> token = history.tokens.empty() ? first_token_ : history.tokens.back();
        rows.push_back({token, cross_attention_cache_, history.states.data()});
        if (!options_->attention) continue;
        auto attention = std::make_shared<float[]>(cross_attention_cache_->positions);
        rows.back().attention = attention.get();
        history.attention.push_back(std::move(attention));
    }
}

void SentenceSearch::set_rules(size_t hypothesis, const PieceChoice& choice, RowRules& rules) const {
    const std::vector<uint32_t>& prefix = request_->prefix;
    rules = {};
    if (step_ < prefix.size()) {
        rules.forced = choice.output(prefix[step_]);
        return;
    }
    if (constrained_) find_constraints(*options_, live_[hypothesis].history.tokens, choice, rules);
    if (options_->sampling) rules.draw = sample_number(live_[hypothesis].sample_key, step_);
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

void SentenceSearch::add_token_score(const Candidate& candidate, std::vector<double>& scores) const {
    if (options_->token_scores)
        scores.push_back(candidate.log_probability - live_[candidate.hypothesis].log_probability);
}

void SentenceSearch::finish_hypothesis(const Candidate& candidate) {
    Hypothesis& parent = live_[candidate.hypothesis];
    --parent.uses;
    Translation& translation = finished_.emplace_back();
    translation.tokens = parent.history.tokens;
    if (candidate.token != eos_) translation.tokens.push_back(candidate.token);
    translation.score = candidate.log_probability / length_factor(step_, options_->length_penalty);
    translation.token_scores = parent.history.token_scores;
    add_token_score(candidate, translation.token_scores);
    if (!options_->attention) return;
    translation.attention = parent.history.attention;
    translation.attention.resize(translation.tokens.size());  // without that of eos
    translation.source_positions = cross_attention_cache_->positions;
}

void SentenceSearch::continue_hypothesis(const Candidate& candidate) {
    Hypothesis& parent = live_[candidate.hypothesis];
    if (next_count_ == next_.size()) next_.emplace_back();
    Hypothesis& child = next_[next_count_++];
    if (--parent.uses == 0) {
        std::swap(child.history, parent.history);
    } else {
        child.history = parent.history;
    }
    child.history.tokens.push_back(candidate.token);
    add_token_score(candidate, child.history.token_scores);
    child.log_probability = candidate.log_probability;
    child.sample_key = parent.sample_key;
    child.uses = 0;
}

void SentenceSearch::give_back_unused(StatePool& pool) {
    needed_.clear();
    for (size_t i = 0; i < live_count_; ++i) {
        const std::vector<std::byte*>& states = live_[i].history.states;
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
