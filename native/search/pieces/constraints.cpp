#include "search/pieces/constraints.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

// Bans the pieces that would continue the word that a term has ended.
void ban_continuations(const std::vector<uint32_t>& continuations, const PieceChoice& choice,
                       std::vector<uint32_t>& banned) {
    std::vector<uint32_t> all;
    if (choice.selected() == nullptr) {
        std::ranges::set_union(banned, continuations, std::back_inserter(all));
    } else {
        const std::vector<uint32_t>& pieces = *choice.selected();
        for (uint32_t i = 0; i < pieces.size(); ++i) {
            if (std::ranges::binary_search(continuations, pieces[i]) || std::ranges::binary_search(banned, i))
                all.push_back(i);
        }
    }
    banned = std::move(all);
}

}  // namespace

bool has_constraints(const SearchOptions& options) {
    return options.repetition_penalty != 1.0 || options.no_repeat_ngram > 0 || !options.suppressed_sequences.empty() ||
           options.suppressed_texts;
}

void find_constraints(const SearchOptions& options, std::span<const uint32_t> tokens, const TermProgress& terms,
                      const PieceChoice& choice, RowRules& rules) {
    rules.banned.clear();
    rules.penalized.clear();
    rules.asked = terms.next_pieces();
    if (options.repetition_penalty != 1.0) rules.penalized.assign(tokens.begin(), tokens.end());
    if (options.no_repeat_ngram > 0) ban_repeated(tokens, options.no_repeat_ngram, rules.banned);
    std::erase_if(rules.banned, [&](uint32_t piece) { return std::ranges::binary_search(rules.asked, piece); });
    ban_sequences(tokens, options.suppressed_sequences, rules.banned);
    if (options.suppressed_texts) options.suppressed_texts->find(tokens, rules.banned);
    choice.to_outputs(rules.penalized);
    choice.to_outputs(rules.banned);
    choice.to_outputs(rules.asked);
    if (terms.after_word()) ban_continuations(options.word_continuations, choice, rules.banned);
}

}  // namespace pocketmt
