// Texts that are never generated, in whatever way they are divided into pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pocketmt {

// For each text, an automaton whose states are the lengths of the text's beginning that end the hypothesis (Knuth et
// al. 1977), with the pieces that would complete the text in each state. Immutable.
class SuppressedTexts {
  public:
    // surfaces: bytes that each piece adds to a translation; empty for special pieces. before: bytes that a text at the
    // beginning of a translation may begin with. Throws Error if a text is empty.
    SuppressedTexts(std::vector<std::string> surfaces, const std::vector<std::string>& texts, std::string before);

    size_t vocabulary_size() const { return surfaces_.size(); }
    // Adds the pieces that must not follow `tokens`.
    void find(std::span<const uint32_t> tokens, std::vector<uint32_t>& banned) const;

  private:
    struct Automaton {
        explicit Automaton(const std::string& suppressed);

        // State after one more byte; the text's size if that completes it.
        size_t advance(size_t state, char byte) const;
        // The same after more bytes.
        size_t advance(size_t state, const std::string& bytes) const;
        // Whether `bytes` after a state complete the text.
        bool completed_by(size_t state, const std::string& bytes) const;

        std::string text;
        std::vector<size_t> fallbacks;              // of each state: the next shorter beginning that ends it
        std::vector<std::vector<uint32_t>> banned;  // of each state
    };

    std::vector<std::string> surfaces_;  // [V]
    std::string before_;
    std::vector<Automaton> automata_;
};

}  // namespace pocketmt
