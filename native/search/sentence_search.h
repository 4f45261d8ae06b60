// The search of one sentence's translation. Rules: at each step the (beam size - finished) best continuations of the
// live hypotheses go on, by summed log-probability (ties: lower hypothesis, then lower token id); those that end in eos
// are finished. It ends when as many as the beam size are finished, or at the length limit. Greedy search is beam
// size 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/decoder.h"

namespace pocketmt {

struct SearchOptions {
    size_t beam_size = 4;
    size_t n_best = 1;
    double length_penalty = 1.0;       // score = log-probability / length^length_penalty, eos counted
    std::optional<size_t> max_length;  // target tokens, eos counted; default: 2 * source tokens + 20
    size_t min_length = 0;             // eos is not generated before
    bool shortlist = true;             // whether the model's shortlist is used, where it has one
    bool scores = true;                // false lets greedy search skip the softmax: scores are then 0
};

// Throws Error naming the option that is out of range.
void check(const SearchOptions& options, size_t vocabulary_size);

struct Translation {
    std::vector<uint32_t> tokens;  // without eos
    double score = 0.0;
};

class SentenceSearch {
  public:
    // attends_history: whether a step reads the cache rows of all positions, or that of the last one alone.
    SentenceSearch(const SearchOptions& options, size_t source_tokens, const Memory& memory, bool attends_history);

    bool done() const { return live_count_ == 0; }
    // Continuations that may go on: how many of each row have to be considered.
    size_t wanted() const { return options_->beam_size - finished_.size(); }
    // Whether eos may not be generated in this step.
    bool forbids_eos() const { return step_ + 1 < options_->min_length; }
    // Adds a decoder row for each live hypothesis, with a new row of the cache.
    void append_rows(std::vector<DecoderRow>& rows, CacheRows& cache);
    void consider(size_t hypothesis, uint32_t token, double log_probability);
    // Chooses among what was considered, and gives back cache rows that no live hypothesis needs any more.
    void advance(CacheRows& cache);
    // The n best translations, best first; gives the cache rows back.
    std::vector<Translation> finish(CacheRows& cache);

  private:
    struct Hypothesis {
        std::vector<uint32_t> tokens;
        // Cache rows of the positions so far; where no step reads those before the last, they are given back already.
        std::vector<std::byte*> history;
        double log_probability = 0.0;
        size_t uses = 0;  // continuations that still need its tokens and history
    };
    struct Candidate {
        double log_probability;
        uint32_t hypothesis;
        uint32_t token;
    };

    void finish_hypothesis(const Candidate& candidate);
    void continue_hypothesis(const Candidate& candidate);
    void give_back_dead_rows(CacheRows& cache);

    const SearchOptions* options_;
    size_t limit_;
    const Memory* memory_;
    bool attends_history_;
    size_t step_ = 0;
    size_t live_count_ = 1;
    std::vector<Hypothesis> live_;
    size_t next_count_ = 0;
    std::vector<Hypothesis> next_;
    std::vector<Candidate> candidates_;
    std::vector<Translation> finished_;
    std::vector<std::byte*> cache_rows_;
    std::vector<std::byte*> needed_;  // by give_back_dead_rows, kept for its memory
};

}  // namespace pocketmt
