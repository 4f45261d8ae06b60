#include "search/pieces/constraints.h"

#include <algorithm>

namespace pocketmt {

namespace {

// Bans each piece that would repeat an n-gram of `tokens`.
void ban_repeated(std::span<const uint32_t> tokens, size_t n, std::vector<uint32_t>& banned) {
    if (tokens.size() < n) return;
    const std::span<const uint32_t> last = tokens.last(n - 1);
    for (size_t first = 0; first + n <= tokens.size(); ++first) {
        if (std::ranges::equal(tokens.subspan(first, n - 1), last)) banned.push_back(tokens[first + n - 1]);
    }
}

// Bans the last piece of each sequence whose other pieces end `tokens`.
void ban_sequences(std::span<const uint32_t> tokens, const std::vector<std::vector<uint32_t>>& sequences,
                   std::vector<uint32_t>& banned) {
    for (const std::vector<uint32_t>& sequence : sequences) {
        const std::span<const uint32_t> before = std::span(sequence).first(sequence.size() - 1);
        if (tokens.size() >= before.size() && std::ranges::equal(tokens.last(before.size()), before))
            banned.push_back(sequence.back());
    }
}

}  // namespace

bool has_constraints(const SearchOptions& options) {
    return options.repetition_penalty != 1.0 || options.no_repeat_ngram > 0 || !options.suppressed_sequences.empty() ||
           options.suppressed_texts;
}

void find_constraints(const SearchOptions& options, std::span<const uint32_t> tokens, const PieceChoice& choice,
                      RowRules& rules) {
    rules.banned.clear();
    rules.penalized.clear();
    if (options.repetition_penalty != 1.0) rules.penalized.assign(tokens.begin(), tokens.end());
    if (options.no_repeat_ngram > 0) ban_repeated(tokens, options.no_repeat_ngram, rules.banned);
    ban_sequences(tokens, options.suppressed_sequences, rules.banned);
    if (options.suppressed_texts) options.suppressed_texts->find(tokens, rules.banned);
    choice.to_outputs(rules.penalized);
    choice.to_outputs(rules.banned);
}

}  // namespace pocketmt
