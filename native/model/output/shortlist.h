// The lexical shortlist of a model file: the probable target pieces of each source piece (Behnke et al. 2021, section
// 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/description/architecture.h"

namespace pocketmt {

// As described in docs/reference/model-file.md.
struct StoredShortlist {
    std::span<const std::byte> bytes;  // empty: the file has no shortlist
    size_t frequent = 0;               // pieces that are in every sentence's list
};

class Shortlist {
  public:
    // Throws ModelError if the size does not fit the counts.
    Shortlist(const StoredShortlist& stored, const Architecture& architecture);

    bool present() const { return !offsets_.empty(); }
    // The pieces that may be in a translation of `source` (ids without eos), ascending: the special pieces, the
    // frequent ones, and the targets of each source piece and of the source's eos.
    std::vector<uint32_t> pieces(std::span<const uint32_t> source) const;
    // An upper bound of the number of pieces(), computed faster.
    size_t most_pieces(std::span<const uint32_t> source) const;

  private:
    std::span<const uint32_t> targets(uint32_t piece) const {
        return std::span(targets_).subspan(offsets_[piece], offsets_[piece + 1] - offsets_[piece]);
    }

    size_t vocabulary_size_;  // of the target
    uint32_t source_eos_;
    std::vector<uint32_t> special_;
    std::vector<uint32_t> frequent_;
    std::vector<uint32_t> offsets_;  // [V of the source + 1], where each source piece's targets begin
    std::vector<uint32_t> targets_;
};

}  // namespace pocketmt
