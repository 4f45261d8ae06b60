// Terms that a translation must have, and how far a hypothesis is with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pocketmt {

struct Term {
    std::vector<uint32_t> pieces;
    bool ends_word = false;  // no piece that continues a word may follow it
};

// A copy belongs to each hypothesis. The pieces of a term must follow one another; those of a term that was begun and
// not ended do not count.
class TermProgress {
  public:
    TermProgress() = default;
    // `terms` must live as long as this object.
    explicit TermProgress(const std::vector<Term>& terms);

    void advance(uint32_t piece, double log_probability);
    // The fewest pieces after which all terms are in the translation.
    size_t missing() const { return missing_ - matched_; }
    // Whether the last piece ended a term that ends its word.
    bool after_word() const { return after_word_; }
    // Of the pieces of the terms that the translation has.
    double log_probability() const { return log_probability_; }
    // The pieces that continue the terms that were begun, or begin the others; ascending.
    std::vector<uint32_t> next_pieces() const;

  private:
    // The first missing term that begins with `pieces`; the number of terms if there is none.
    size_t find(std::span<const uint32_t> pieces) const;

    const std::vector<Term>* terms_ = nullptr;
    std::vector<bool> met_;
    size_t missing_ = 0;  // pieces of the terms that are not met
    // The last pieces of the hypothesis are the first `matched_` ones of this term.
    size_t begun_ = 0;
    size_t matched_ = 0;
    double log_probability_ = 0.0;
    double begun_log_probability_ = 0.0;  // of the matched pieces, if they were matched one after another
    bool after_word_ = false;
};

// Pieces of all terms.
size_t count_pieces(const std::vector<Term>& terms);

// How many candidates of each bank are kept, `width` in all: as many of one bank as of the others. What a bank lacks,
// and the remainder, goes to the highest banks that have more. available: candidates of each bank.
std::vector<size_t> share_among_banks(std::span<const size_t> available, size_t width);

}  // namespace pocketmt
