// Options of the search for translations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/description/architecture.h"
#include "search/pieces/suppressed_texts.h"

namespace pocketmt {

constexpr size_t max_beam_size = 256;

// Random choice of each piece, instead of a search for the most probable ones. A hypothesis is a sample; samples of a
// sentence depend on the seed, the sentence's tokens and the sample's number alone.
struct Sampling {
    double temperature = 1.0;  // logits are divided by it
    size_t top_k = 0;          // only the k most probable pieces; 0: all
    double top_p = 1.0;        // only the fewest most probable pieces whose probabilities reach this sum
    uint64_t seed = 0;
};

struct SearchOptions {
    size_t beam_size = 4;  // of sampling: the number of samples
    size_t n_best = 1;
    // score = log-probability / length^length_penalty; the length includes eos; -10 to 10
    double length_penalty = 1.0;
    // Most target tokens with eos; default: 2 * source tokens + 20, and those of the prefix and of the terms, but at
    // least min_length.
    std::optional<size_t> max_length;
    // Fewest target tokens with eos, unless repeat_limit ends the translation before, or rules leave no piece. Of
    // several translations, shorter ones come last.
    size_t min_length = 0;
    bool shortlist = true;      // whether to use the model's shortlist, if it has one
    bool scores = true;         // false: greedy search skips the softmax, and scores are 0
    bool token_scores = false;  // whether to return the log-probability of each token; needs `scores`
    bool attention = false;     // whether to return the attention of each token to the source
    bool unknown = false;       // whether unk may be generated
    double repetition_penalty =
        1.0;                     // logits of pieces of the hypothesis so far are divided by it, or multiplied if < 0
    size_t no_repeat_ngram = 0;  // no n-gram of this length is generated twice; 0: any may be
    size_t repeat_limit = 0;     // repetitions in a row of a sequence that end a translation; 0: none do
    std::vector<std::vector<uint32_t>> suppressed_sequences;  // never generated
    std::shared_ptr<const SuppressedTexts> suppressed_texts;  // never generated; null: none
    std::vector<uint32_t> word_continuations;  // pieces that must not follow a term that ends its word, ascending
    std::optional<Sampling> sampling;
    size_t batch_size = 0;  // most sentences computed together; 0: as many as the engine finds best
    bool parallel = true;   // whether several workers may work on the sentences
};

// Throws Error naming the option that is out of range.
void check(const SearchOptions& options, const Architecture& architecture);

}  // namespace pocketmt
