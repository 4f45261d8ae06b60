// The lexical shortlist of a model file [E4]: which target pieces are likely beside each source piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pocketmt {

// As docs/model-file.md says; no bytes: there is none.
struct StoredShortlist {
    std::span<const std::byte> bytes;
    size_t frequent = 0;  // pieces that are in every sentence's list
};

class Shortlist {
  public:
    // Throws ModelError where the size is not what its counts ask for.
    Shortlist(const StoredShortlist& stored, size_t vocabulary_size);

    bool present() const { return !offsets_.empty(); }
    // The pieces that a translation of `source` (ids without eos) is made of, ascending: the special ones (so that each
    // has its id as its place), the frequent ones, and the targets of each source piece and of eos.
    std::vector<uint32_t> pieces(std::span<const uint32_t> source) const;
    // At least as many as pieces() gives, found faster.
    size_t most_pieces(std::span<const uint32_t> source) const;

  private:
    std::span<const uint32_t> targets(uint32_t piece) const {
        return std::span(targets_).subspan(offsets_[piece], offsets_[piece + 1] - offsets_[piece]);
    }

    size_t vocabulary_size_;
    std::vector<uint32_t> frequent_;
    std::vector<uint32_t> offsets_;  // [V + 1], of a source piece's targets
    std::vector<uint32_t> targets_;
};

}  // namespace pocketmt
