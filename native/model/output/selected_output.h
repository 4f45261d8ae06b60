// The output layer of one sentence: the rows of the output matrix for the pieces of its shortlist, gathered once and
// read at every step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/output/output_layer.h"
#include "model/runtime/buffer.h"

namespace pocketmt {

class SelectedOutput {
  public:
    // whole: of the whole vocabulary. pieces: ids, ascending. `memory` holds the rows, and must live and stay unchanged
    // as long as this object.
    SelectedOutput(const OutputLayer& whole, std::vector<uint32_t> pieces, Buffer<std::byte>& memory);

    const std::vector<uint32_t>& pieces() const { return pieces_; }
    // The output that is a piece; none if the piece is not selected.
    std::optional<uint32_t> find(uint32_t piece) const;
    // The logits of its pieces are bit for bit those of the whole vocabulary's output layer.
    OutputLayer layer() const { return {matrix_, bias_.empty() ? nullptr : bias_.data()}; }

  private:
    std::vector<uint32_t> pieces_;
    Matrix matrix_;
    std::vector<float> bias_;  // of the pieces, or empty
};

}  // namespace pocketmt
