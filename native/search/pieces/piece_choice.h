// The pieces among which a search chooses: those of the whole vocabulary, or those of a sentence's shortlist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/output/selected_output.h"

namespace pocketmt {

// An output is a row of the output layer's matrix.
class PieceChoice {
  public:
    // Of the whole vocabulary. never: ids of the pieces that are never generated, ascending, without eos.
    PieceChoice(const OutputLayer& whole, std::span<const uint32_t> never, uint32_t eos);
    // Of a sentence. pieces: ids, ascending, eos among them. memory: as of SelectedOutput.
    PieceChoice(const OutputLayer& whole, std::span<const uint32_t> never, uint32_t eos, std::vector<uint32_t> pieces,
                Buffer<std::byte>& memory);
    // The output layer refers to this object.
    PieceChoice(const PieceChoice&) = delete;
    PieceChoice& operator=(const PieceChoice&) = delete;

    OutputLayer layer() const { return selected_ ? selected_->layer() : whole_; }
    uint32_t piece(uint32_t output) const { return selected_ ? selected_->pieces()[output] : output; }
    // None if the piece is not among them.
    std::optional<uint32_t> output(uint32_t piece) const { return selected_ ? selected_->find(piece) : piece; }
    // Ids of the outputs; null: those of the whole vocabulary.
    const std::vector<uint32_t>* selected() const { return selected_ ? &selected_->pieces() : nullptr; }
    uint32_t eos() const { return eos_; }
    // Outputs of pieces that are never generated, ascending.
    const std::vector<uint32_t>& never() const { return never_; }
    // Turns ids into outputs, ascending and without repetitions; pieces that are not among them are left out.
    void to_outputs(std::vector<uint32_t>& pieces) const;

  private:
    OutputLayer whole_;
    std::optional<SelectedOutput> selected_;
    uint32_t eos_;  // an output
    std::vector<uint32_t> never_;
};

}  // namespace pocketmt
