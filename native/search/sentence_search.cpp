#include "search/sentence_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "search/pieces/loops.h"
#include "search/pieces/sampling.h"

namespace pocketmt {

namespace {

// Live hypotheses soon share all but their last tokens, so most states of a beam would be those of dropped hypotheses.
constexpr size_t steps_between_cleaning = 8;

double length_factor(size_t length, double length_penalty) {
    return std::pow(static_cast<double>(length), length_penalty);
}

size_t length_limit(const SearchOptions& options, const Request& request) {
    const size_t usual = 2 * request.source.size() + 20 + request.prefix.size() + count_pieces(request.terms);
    return options.max_length.value_or(std::max(usual, options.min_length));
}

// The best candidates first.
constexpr auto better = [](const auto& left, const auto& right) {
    if (left.log_probability != right.log_probability) return left.log_probability > right.log_probability;
    if (left.hypothesis != right.hypothesis) return left.hypothesis < right.hypothesis;
    return left.token < right.token;
};

}  // namespace

size_t beam_size(const SearchOptions& options, const Request& request) {
    if (request.terms.empty()) return options.beam_size;
    return std::min(max_beam_size, options.beam_size + count_pieces(request.terms));
}

SentenceSearch::SentenceSearch(const Ensemble& ensemble, const SearchOptions& options, const Request& request,
                               const CrossAttentionCache& cache)
    : options_(&options),
      request_(&request),
      constrained_(has_constraints(options)),
      beam_size_(beam_size(options, request)),
      term_pieces_(count_pieces(request.terms)),
      limit_(length_limit(options, request)),
      cross_attention_cache_(&cache),
      first_token_(ensemble.architecture().first_decoder_input),
      eos_(ensemble.architecture().special_ids.eos),
      reads_all_states_(ensemble.reads_all_states()),
      live_count_(options.sampling ? options.beam_size : 1),
      live_(live_count_) {
    if (has_terms()) live_[0].terms = TermProgress(request.terms);
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
    const Hypothesis& live = live_[hypothesis];
    if (constrained_ || has_terms()) find_constraints(*options_, live.history.tokens, live.terms, choice, rules);
    // Every further piece belongs to a term.
    if (live.terms.missing() > 0 && live.terms.missing() == limit_ - step_) rules.banned.clear();
    if (options_->sampling) rules.draw = sample_number(live_[hypothesis].sample_key, step_);
}

bool SentenceSearch::consider(size_t hypothesis, uint32_t token, double log_probability) {
    const Hypothesis& live = live_[hypothesis];
    const double counted = step_ < request_->prefix.size() ? 0.0 : log_probability;
    size_t bank = 0;
    if (has_terms()) {
        TermProgress terms = live.terms;
        terms.advance(token, counted);
        if (terms.missing() > limit_ - step_ - 1) return false;  // the terms would not fit
        // The probability of eos is not given to the other pieces: text after a complete sentence shall stay
        // improbable.
        if (token == eos_ && terms.missing() > 0) return false;
        bank = term_pieces_ - terms.missing();
    }
    candidates_.push_back({live.log_probability + counted, log_probability, static_cast<uint32_t>(hypothesis), token,
                           static_cast<uint32_t>(bank)});
    return true;
}

void SentenceSearch::consider_without_choice(size_t hypothesis) {
    const TermProgress& terms = live_[hypothesis].terms;
    if (terms.missing() == 0) consider(hypothesis, eos_, 0.0);
    for (uint32_t piece : terms.next_pieces()) consider(hypothesis, piece, 0.0);
}

void SentenceSearch::choose_best() {
    size_t chosen = std::min(wanted(), candidates_.size());
    auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(chosen);
    std::partial_sort(candidates_.begin(), end, candidates_.end(), better);
    candidates_.resize(chosen);
}

void SentenceSearch::choose_from_banks() {
    std::sort(candidates_.begin(), candidates_.end(), better);
    // A piece of a term may be among the best, too.
    const auto repeated = std::ranges::unique(candidates_, [](const Candidate& left, const Candidate& right) {
        return left.hypothesis == right.hypothesis && left.token == right.token;
    });
    candidates_.erase(repeated.begin(), repeated.end());
    std::vector<size_t> places(term_pieces_ + 1);
    for (const Candidate& candidate : candidates_) ++places[candidate.bank];
    places = share_among_banks(places, wanted());
    std::erase_if(candidates_, [&](const Candidate& candidate) {
        size_t& left = places[candidate.bank];
        if (left == 0) return true;
        --left;
        return false;
    });
}

double SentenceSearch::rank(const Finished& finished) const {
    if (!has_terms()) return finished.translation.score;
    return finished.translation.score - best_terms_ / length_factor(finished.length, options_->length_penalty);
}

void SentenceSearch::order_finished() {
    for (const Finished& each : finished_) best_terms_ = std::max(best_terms_, each.term_log_probability);
    std::stable_sort(finished_.begin(), finished_.end(), [&](const Finished& left, const Finished& right) {
        const bool left_long = left.length >= options_->min_length, right_long = right.length >= options_->min_length;
        return left_long != right_long ? left_long : rank(left) > rank(right);
    });
}

bool SentenceSearch::found_enough() {
    if (finished_.size() < beam_size_) return false;
    order_finished();
    finished_.resize(beam_size_);
    if (finished_[0].length < options_->min_length) return false;
    const double factor = length_factor(step_, options_->length_penalty), best = rank(finished_[0]);
    return std::none_of(next_.begin(), next_.begin() + static_cast<std::ptrdiff_t>(next_count_),
                        [&](const Hypothesis& live) { return (live.log_probability - best_terms_) / factor > best; });
}

void SentenceSearch::advance(StatePool& pool) {
    has_terms() ? choose_from_banks() : choose_best();
    for (const Candidate& candidate : candidates_) ++live_[candidate.hypothesis].uses;
    ++step_;
    next_count_ = 0;
    for (const Candidate& candidate : candidates_) {
        if (candidate.token == eos_ || step_ >= limit_ || falls_into_loop(candidate)) {
            finish_hypothesis(candidate);
        } else {
            continue_hypothesis(candidate);
        }
    }
    candidates_.clear();
    if (has_terms() && found_enough()) next_count_ = 0;
    std::swap(live_, next_);
    live_count_ = next_count_;
    if (!reads_all_states_ || (live_count_ > 1 && step_ % steps_between_cleaning == 0)) give_back_unused(pool);
}

bool SentenceSearch::falls_into_loop(const Candidate& candidate) const {
    const Hypothesis& live = live_[candidate.hypothesis];
    if (options_->repeat_limit == 0 || step_ <= request_->prefix.size() || live.terms.missing() > 0) return false;
    // Terms may repeat themselves: only what follows them is a loop.
    return ends_in_loop(std::span(live.history.tokens).subspan(live.terms_end), candidate.token,
                        options_->repeat_limit);
}

void SentenceSearch::add_token_score(const Candidate& candidate, std::vector<double>& scores) const {
    if (options_->token_scores) scores.push_back(candidate.token_log_probability);
}

void SentenceSearch::finish_hypothesis(const Candidate& candidate) {
    Hypothesis& parent = live_[candidate.hypothesis];
    --parent.uses;
    Finished& finished = finished_.emplace_back();
    finished.length = step_;
    if (has_terms()) {
        TermProgress terms = parent.terms;
        terms.advance(candidate.token, candidate.log_probability - parent.log_probability);
        finished.term_log_probability = terms.log_probability();
    }
    Translation& translation = finished.translation;
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
    if (has_terms()) {
        child.terms = parent.terms;
        child.terms.advance(candidate.token, candidate.log_probability - parent.log_probability);
        const bool ends_terms = parent.terms.missing() > 0 && child.terms.missing() == 0;
        child.terms_end = ends_terms ? child.history.tokens.size() : parent.terms_end;
    }
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
    order_finished();
    std::vector<Translation> best;
    for (size_t i = 0; i < std::min(finished_.size(), options_->n_best); ++i)
        best.push_back(std::move(finished_[i].translation));
    return best;
}

}  // namespace pocketmt
