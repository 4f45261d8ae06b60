// The search of one sentence's translation. At each step the (beam size - finished) best continuations of the live
// hypotheses are kept, by summed log-probability (ties: lower hypothesis, then lower token id); those that end in eos
// are finished. The search ends when as many hypotheses as the beam size are finished, or at the length limit. Greedy
// search is beam size 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/network.h"

namespace pocketmt {

struct SearchOptions {
    size_t beam_size = 4;
    size_t n_best = 1;
    double length_penalty = 1.0;       // score = log-probability / length^length_penalty; the length includes eos
    std::optional<size_t> max_length;  // target tokens with eos; default: 2 * source tokens + 20
    size_t min_length = 0;             // eos is not generated before
    bool shortlist = true;             // whether to use the model's shortlist, if it has one
    bool scores = true;                // false: greedy search skips the softmax, and scores are 0
};

// Throws Error naming the option that is out of range.
void check(const SearchOptions& options, size_t vocabulary_size);

struct Translation {
    std::vector<uint32_t> tokens;  // without eos
    double score = 0.0;
};

class SentenceSearch {
  public:
    SentenceSearch(const Network& network, const SearchOptions& options, size_t source_tokens,
                   const CrossAttentionCache& cache);

    bool done() const { return live_count_ == 0; }
    // How many continuations can be kept, and so how many of each row have to be considered.
    size_t wanted() const { return options_->beam_size - finished_.size(); }
    // Whether eos may not be generated in this step.
    bool forbids_eos() const { return step_ + 1 < options_->min_length; }
    // Adds a decoder row with a new state for each live hypothesis.
    void append_rows(std::vector<DecoderRow>& rows, StatePool& pool);
    void consider(size_t hypothesis, uint32_t token, double log_probability);
    // Keeps the best of the considered continuations, and gives back states that no live hypothesis needs any more.
    void advance(StatePool& pool);
    // The n best translations, best first; gives the states back.
    std::vector<Translation> finish(StatePool& pool);

  private:
    struct Hypothesis {
        std::vector<uint32_t> tokens;
        // States of the positions so far. Those that no step reads any more have been given back.
        std::vector<std::byte*> states;
        double log_probability = 0.0;
        size_t uses = 0;  // continuations that still need its tokens and states
    };
    struct Candidate {
        double log_probability;
        uint32_t hypothesis;
        uint32_t token;
    };

    void finish_hypothesis(const Candidate& candidate);
    void continue_hypothesis(const Candidate& candidate);
    void give_back_unused(StatePool& pool);

    const SearchOptions* options_;
    size_t limit_;
    const CrossAttentionCache* cross_attention_cache_;
    uint32_t first_token_;
    uint32_t eos_;
    bool reads_all_states_;
    size_t step_ = 0;
    size_t live_count_ = 1;
    std::vector<Hypothesis> live_;
    size_t next_count_ = 0;
    std::vector<Hypothesis> next_;
    std::vector<Candidate> candidates_;
    std::vector<Translation> finished_;
    std::vector<std::byte*> states_;  // taken from the pool
    std::vector<std::byte*> needed_;  // of give_back_unused; a member so that its memory is reused
};

}  // namespace pocketmt
