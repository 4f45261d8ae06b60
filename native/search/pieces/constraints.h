// Constraints on the next piece of a hypothesis: pieces that must not follow it, and pieces whose logits are lowered.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/options.h"
#include "search/pieces/piece_choice.h"
#include "search/terms.h"

namespace pocketmt {

// Changes to the search of one row, by outputs of its PieceChoice.
struct RowRules {
    std::optional<uint32_t> forced;   // the output that must follow
    std::vector<uint32_t> banned;     // ascending
    std::vector<uint32_t> penalized;  // ascending, without repetitions
    std::vector<uint32_t> asked;      // ascending: their log-probabilities are needed even if others are better
    double draw = 0.0;                // of sampling: a random number, at least 0 and below 1
};

// Whether any option restricts or penalizes pieces.
bool has_constraints(const SearchOptions& options);

// Sets `banned`, `penalized` and `asked` of the hypothesis `tokens`. Pieces of terms are asked for, and may repeat
// n-grams.
void find_constraints(const SearchOptions& options, std::span<const uint32_t> tokens, const TermProgress& terms,
                      const PieceChoice& choice, RowRules& rules);

}  // namespace pocketmt
