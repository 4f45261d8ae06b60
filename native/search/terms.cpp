#include "search/terms.h"

#include <algorithm>

namespace pocketmt {

TermProgress::TermProgress(const std::vector<Term>& terms)
    : terms_(&terms), met_(terms.size()), missing_(count_pieces(terms)) {}

size_t TermProgress::find(std::span<const uint32_t> pieces) const {
    size_t term = 0;
    for (; term < met_.size(); ++term) {
        const std::vector<uint32_t>& whole = (*terms_)[term].pieces;
        if (!met_[term] && whole.size() >= pieces.size() &&
            std::ranges::equal(std::span(whole).first(pieces.size()), pieces))
            break;
    }
    return term;
}

void TermProgress::advance(uint32_t piece, double log_probability) {
    after_word_ = false;
    if (missing_ == 0) return;
    std::vector<uint32_t> last;
    if (matched_ > 0)
        last.assign((*terms_)[begun_].pieces.begin(),
                    (*terms_)[begun_].pieces.begin() + static_cast<std::ptrdiff_t>(matched_));
    last.push_back(piece);
    // The longest end that begins a term.
    std::span<const uint32_t> end = last;
    while (!end.empty() && (begun_ = find(end)) == met_.size()) end = end.subspan(1);
    if (end.size() < last.size()) begun_log_probability_ = 0.0;
    begun_log_probability_ += log_probability;
    matched_ = end.size();
    if (matched_ == 0 || matched_ < (*terms_)[begun_].pieces.size()) return;
    met_[begun_] = true;
    missing_ -= matched_;
    matched_ = 0;
    log_probability_ += begun_log_probability_;
    begun_log_probability_ = 0.0;
    after_word_ = (*terms_)[begun_].ends_word;
}

std::vector<uint32_t> TermProgress::next_pieces() const {
    std::vector<uint32_t> next;
    const std::span<const uint32_t> begun =
        matched_ == 0 ? std::span<const uint32_t>() : std::span((*terms_)[begun_].pieces).first(matched_);
    for (size_t term = 0; term < met_.size(); ++term) {
        const std::vector<uint32_t>& whole = (*terms_)[term].pieces;
        if (!met_[term] && whole.size() > matched_ && std::ranges::equal(std::span(whole).first(matched_), begun))
            next.push_back(whole[matched_]);
    }
    std::ranges::sort(next);
    next.erase(std::ranges::unique(next).begin(), next.end());
    return next;
}

size_t count_pieces(const std::vector<Term>& terms) {
    size_t pieces = 0;
    for (const Term& term : terms) pieces += term.pieces.size();
    return pieces;
}

std::vector<size_t> share_among_banks(std::span<const size_t> available, size_t width) {
    std::vector<size_t> kept;
    for (size_t count : available) {
        kept.push_back(std::min(count, width / available.size()));
    }
    size_t rest = width;
    for (size_t count : kept) rest -= count;
    for (size_t bank = available.size(); bank-- > 0;) {
        const size_t more = std::min(available[bank] - kept[bank], rest);
        kept[bank] += more;
        rest -= more;
    }
    return kept;
}

}  // namespace pocketmt
