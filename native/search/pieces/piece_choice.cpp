#include "search/pieces/piece_choice.h"

#include <algorithm>
#include <utility>

namespace pocketmt {

PieceChoice::PieceChoice(const OutputLayer& whole, std::span<const uint32_t> never, uint32_t eos)
    : whole_(whole), eos_(eos), never_(never.begin(), never.end()) {}

PieceChoice::PieceChoice(const OutputLayer& whole, std::span<const uint32_t> never, uint32_t eos,
                         std::vector<uint32_t> pieces, Buffer<std::byte>& memory)
    : whole_(whole),
      selected_(std::in_place, whole, std::move(pieces), memory),
      eos_(selected_->find(eos).value()),
      never_(never.begin(), never.end()) {
    to_outputs(never_);
}

void PieceChoice::to_outputs(std::vector<uint32_t>& pieces) const {
    std::ranges::sort(pieces);
    const auto repeated = std::ranges::unique(pieces);
    pieces.erase(repeated.begin(), repeated.end());
    if (!selected_) return;
    size_t kept = 0;
    for (uint32_t piece : pieces) {
        if (const std::optional<uint32_t> found = selected_->find(piece)) pieces[kept++] = *found;
    }
    pieces.resize(kept);
}

}  // namespace pocketmt
