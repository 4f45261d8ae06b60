#include "model/output/shortlist.h"

#include <algorithm>
#include <bit>
#include <string>

#include "model/runtime/error.h"

namespace pocketmt {

namespace {

constexpr size_t word_bits = 64;

size_t id_bytes(size_t vocabulary_size) {
    return vocabulary_size <= size_t{1} << 8 ? 1 : vocabulary_size <= size_t{1} << 16 ? 2 : 3;
}

}  // namespace

Shortlist::Shortlist(const StoredShortlist& stored, const Architecture& architecture)
    : vocabulary_size_(architecture.vocabulary_size),
      source_eos_(architecture.source_eos),
      special_({architecture.special_ids.eos, architecture.special_ids.unk}) {
    for (const std::optional<uint32_t>& id : {architecture.special_ids.pad, architecture.special_ids.bos}) {
        if (id) special_.push_back(*id);
    }
    if (stored.bytes.empty()) return;
    const size_t sources = architecture.source_vocabulary_size, vocabulary_size = vocabulary_size_;
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(stored.bytes.data());
    size_t size = stored.bytes.size();
    if (size < sources || stored.frequent > vocabulary_size)
        throw ModelError("shortlist: it has no count for each piece of the source, or more pieces than the target");
    offsets_.push_back(0);
    for (size_t piece = 0; piece < sources; ++piece) offsets_.push_back(offsets_.back() + bytes[piece]);
    size_t ids = stored.frequent + offsets_.back();
    if (size - sources != ids * id_bytes(vocabulary_size)) {
        throw ModelError("shortlist: it has " + std::to_string(size) + " bytes, which is not the size of " +
                         std::to_string(ids) + " pieces");
    }
    // Each id is stored as its difference to the one before. Sums are modulo the vocabulary's size, so ids are in
    // range.
    const uint8_t* plane = bytes + sources;
    std::vector<uint32_t> all(ids);
    uint64_t id = 0;
    for (size_t i = 0; i < ids; ++i) {
        uint64_t difference = 0;
        for (size_t byte = 0; byte < id_bytes(vocabulary_size); ++byte)
            difference |= uint64_t{plane[byte * ids + i]} << (8 * byte);
        id = (id + difference) % vocabulary_size;
        all[i] = static_cast<uint32_t>(id);
    }
    auto end = all.begin() + static_cast<std::ptrdiff_t>(stored.frequent);
    frequent_.assign(all.begin(), end);
    targets_.assign(end, all.end());
}

std::vector<uint32_t> Shortlist::pieces(std::span<const uint32_t> source) const {
    std::vector<uint64_t> chosen((vocabulary_size_ + word_bits - 1) / word_bits);
    auto choose = [&](uint32_t piece) { chosen[piece / word_bits] |= uint64_t{1} << (piece % word_bits); };
    for (uint32_t piece : special_) choose(piece);
    for (uint32_t piece : frequent_) choose(piece);
    for (uint32_t target : targets(source_eos_)) choose(target);
    for (uint32_t piece : source) {
        for (uint32_t target : targets(piece)) choose(target);
    }
    std::vector<uint32_t> pieces;
    pieces.reserve(std::min(vocabulary_size_, most_pieces(source)));
    for (size_t word = 0; word < chosen.size(); ++word) {
        for (uint64_t bits = chosen[word]; bits != 0; bits &= bits - 1)
            pieces.push_back(static_cast<uint32_t>(word * word_bits + static_cast<size_t>(std::countr_zero(bits))));
    }
    return pieces;
}

size_t Shortlist::most_pieces(std::span<const uint32_t> source) const {
    size_t most = special_.size() + frequent_.size() + targets(source_eos_).size();
    for (uint32_t piece : source) most += targets(piece).size();
    return std::min(most, vocabulary_size_);
}

}  // namespace pocketmt
