// The output layer of one sentence: the rows of the output matrix that its shortlist names, gathered once and read at
// every step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/layers.h"
#include "model/network.h"
#include "model/workspace.h"

namespace pocketmt {

class SelectedOutput {
  public:
    // `pieces`: ids, ascending. `memory` holds the rows, and must live and be left alone as long as this.
    SelectedOutput(const Network& network, std::vector<uint32_t> pieces, Buffer<std::byte>& memory);

    const std::vector<uint32_t>& pieces() const { return pieces_; }
    // It gives the pieces the very numbers that the whole vocabulary's gives them.
    OutputLayer layer() const { return {matrix_, bias_.empty() ? nullptr : bias_.data()}; }

  private:
    std::vector<uint32_t> pieces_;
    Matrix matrix_;
    std::vector<float> bias_;  // of the pieces; empty where there is none
};

}  // namespace pocketmt
