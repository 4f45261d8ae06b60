// The search of one sentence's translation. At each step the (beam size - finished) best continuations of the live
// hypotheses are kept, by summed log-probability (ties: lower hypothesis, then lower token id); those that end in eos
// are finished. The search ends when as many hypotheses as the beam size are finished, or at the length limit. Greedy
// search is beam size 1. Samples are as many hypotheses, each with one continuation that is drawn.
//
// A sentence with terms is searched by dynamic beam allocation (Post and Vilar 2018, section 3): the pieces that begin
// or continue a missing term are considered, too, and the hypotheses are shared among banks by how many pieces of terms
// they have. Only those with all terms are finished. Finished hypotheses leave their places to others, and the search
// ends when as many as the beam size are finished, and the best of them has the least length and no worse score than
// any that is live. Here scores are without the log-probability that the terms have at best: divided by the length, it
// would favour long texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/ensemble.h"
#include "search/options.h"
#include "search/pieces/constraints.h"
#include "search/terms.h"

namespace pocketmt {

struct Translation {
    std::vector<uint32_t> tokens;  // without eos
    double score = 0.0;
    // If asked for: the log-probability of each token, and of eos unless the length limit ended the translation.
    std::vector<double> token_scores;
    // If asked for: the attention of each token to the source positions, end of sentence included.
    std::vector<std::shared_ptr<const float[]>> attention;
    size_t source_positions = 0;
};

// A sentence to translate, the pieces that its translation must begin with, and the terms that it must have.
struct Request {
    std::vector<uint32_t> source;
    std::vector<uint32_t> prefix;
    std::vector<Term> terms;
};

// Hypotheses of a sentence: one more for each piece of its terms, up to the limit of all beams.
size_t beam_size(const SearchOptions& options, const Request& request);

class SentenceSearch {
  public:
    // `request` and `cache`, with those of further networks after it, must live as long as this object.
    SentenceSearch(const Ensemble& ensemble, const SearchOptions& options, const Request& request,
                   const CrossAttentionCache& cache);

    bool done() const { return live_count_ == 0; }
    // How many continuations can be kept, and so how many of each row have to be considered.
    size_t wanted() const { return has_terms() ? beam_size_ : beam_size_ - finished_.size(); }
    // Whether eos may not be generated in this step.
    bool forbids_eos() const { return step_ + 1 < options_->min_length; }
    // Whether log-probabilities are needed.
    bool scores() const { return options_->scores || (beam_size_ > 1 && !options_->sampling); }
    // Adds a decoder row with a new state for each live hypothesis.
    void append_rows(std::vector<DecoderRow>& rows, StatePool& pool);
    // Whether rows of this step have rules.
    bool has_rules() const {
        return constrained_ || has_terms() || options_->sampling || step_ < request_->prefix.size();
    }
    // Sets the rules of a hypothesis's row.
    void set_rules(size_t hypothesis, const PieceChoice& choice, RowRules& rules) const;
    // False if the continuation is not allowed.
    bool consider(size_t hypothesis, uint32_t token, double log_probability);
    // Considers what is done with a hypothesis that nothing may follow: it ends, or a missing term continues.
    void consider_without_choice(size_t hypothesis);
    // Keeps the best of the considered continuations, and gives back states that no live hypothesis needs any more.
    void advance(StatePool& pool);
    // The n best translations, best first; gives the states back.
    std::vector<Translation> finish(StatePool& pool);

  private:
    struct History {
        std::vector<uint32_t> tokens;
        // States of the positions so far. Those that no step reads any more have been given back.
        std::vector<std::byte*> states;
        std::vector<double> token_scores;                       // if asked for
        std::vector<std::shared_ptr<const float[]>> attention;  // if asked for
    };
    struct Hypothesis {
        History history;
        double log_probability = 0.0;
        TermProgress terms;
        size_t terms_end = 0;     // tokens up to the end of the last term; 0 while a term is missing
        uint64_t sample_key = 0;  // of sampling
        size_t uses = 0;          // continuations that still need its history
    };
    struct Candidate {
        double log_probability;        // of the text, without its prefix, which is not the model's choice
        double token_log_probability;  // of the last token
        uint32_t hypothesis;
        uint32_t token;
        uint32_t bank;  // pieces of terms that the hypothesis then has
    };

    struct Finished {
        Translation translation;
        size_t length = 0;  // eos included
        double term_log_probability = 0.0;
    };

    bool has_terms() const { return !request_->terms.empty(); }
    void choose_best();
    void choose_from_banks();
    // By what finished hypotheses of at least the least length are ordered, and the shorter ones after them.
    double rank(const Finished& finished) const;
    void order_finished();
    // Of a search with terms; keeps the best finished hypotheses only.
    bool found_enough();

    // Whether a hypothesis ends because it repeats a sequence too often.
    bool falls_into_loop(const Candidate& candidate) const;
    void add_token_score(const Candidate& candidate, std::vector<double>& scores) const;
    void finish_hypothesis(const Candidate& candidate);
    void continue_hypothesis(const Candidate& candidate);
    void give_back_unused(StatePool& pool);

    const SearchOptions* options_;
    const Request* request_;
    bool constrained_;
    size_t beam_size_;
    size_t term_pieces_;
    size_t limit_;
    const CrossAttentionCache* cross_attention_cache_;
    std::optional<uint32_t> first_token_;
    uint32_t eos_;
    bool reads_all_states_;
    size_t step_ = 0;
    size_t live_count_;
    std::vector<Hypothesis> live_;
    size_t next_count_ = 0;
    std::vector<Hypothesis> next_;
    std::vector<Candidate> candidates_;
    std::vector<Finished> finished_;
    double best_terms_ = -std::numeric_limits<double>::infinity();  // highest log-probability of terms of `finished_`
    std::vector<std::byte*> states_;                                // taken from the pool
    std::vector<std::byte*> needed_;  // of give_back_unused; a member so that its memory is reused
};

}  // namespace pocketmt
