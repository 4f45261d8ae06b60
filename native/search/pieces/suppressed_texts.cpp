#include "search/pieces/suppressed_texts.h"

#include <utility>

#include "model/runtime/error.h"

namespace pocketmt {

SuppressedTexts::Automaton::Automaton(const std::string& suppressed) : text(suppressed), fallbacks(text.size() + 1) {
    for (size_t length = 2; length <= text.size(); ++length) {
        size_t state = fallbacks[length - 1];
        while (state > 0 && text[state] != text[length - 1]) state = fallbacks[state];
        fallbacks[length] = state + (text[state] == text[length - 1] ? 1 : 0);
    }
}

size_t SuppressedTexts::Automaton::advance(size_t state, char byte) const {
    if (state == text.size()) state = fallbacks[state];  // a prefix may have the text
    while (state > 0 && text[state] != byte) state = fallbacks[state];
    return text[state] == byte ? state + 1 : 0;
}

size_t SuppressedTexts::Automaton::advance(size_t state, const std::string& bytes) const {
    for (char byte : bytes) state = advance(state, byte);
    return state;
}

bool SuppressedTexts::Automaton::completed_by(size_t state, const std::string& bytes) const {
    for (char byte : bytes) {
        state = advance(state, byte);
        if (state == text.size()) return true;
    }
    return false;
}

SuppressedTexts::SuppressedTexts(std::vector<std::string> surfaces, const std::vector<std::string>& texts,
                                 std::string before)
    : surfaces_(std::move(surfaces)), before_(std::move(before)) {
    for (const std::string& text : texts) {
        if (text.empty()) throw Error("a suppressed text is empty");
        Automaton& automaton = automata_.emplace_back(text);
        std::vector<uint32_t> with_last_byte;  // Others cannot complete the text.
        for (uint32_t piece = 0; piece < surfaces_.size(); ++piece) {
            if (surfaces_[piece].find(text.back()) != std::string::npos) with_last_byte.push_back(piece);
        }
        automaton.banned.resize(text.size());
        for (size_t state = 0; state < text.size(); ++state) {
            for (uint32_t piece : with_last_byte) {
                if (automaton.completed_by(state, surfaces_[piece])) automaton.banned[state].push_back(piece);
            }
        }
    }
}

void SuppressedTexts::find(std::span<const uint32_t> tokens, std::vector<uint32_t>& banned) const {
    for (const Automaton& automaton : automata_) {
        size_t state = automaton.advance(0, before_);
        for (uint32_t token : tokens) state = automaton.advance(state, surfaces_[token]);
        if (state == automaton.text.size()) state = automaton.fallbacks[state];
        banned.insert(banned.end(), automaton.banned[state].begin(), automaton.banned[state].end());
    }
}

}  // namespace pocketmt
