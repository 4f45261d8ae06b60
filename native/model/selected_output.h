// The output layer of one sentence: the rows of the output matrix that its shortlist names, gathered once and read at
// every step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/network.h"
#include "model/workspace.h"

namespace pocketmt {

class SelectedOutput {
  public:
    // `pieces`: ids, ascending. `memory` holds the rows, and must live and be left alone as long as this.
    SelectedOutput(const Network& network, std::vector<uint32_t> pieces, Buffer<std::byte>& memory);

    const std::vector<uint32_t>& pieces() const { return pieces_; }
    // logits [count, pieces] (rows `stride` apart) of rows of the decoder's output [count, d]: the very numbers that
    // project_output gives these pieces.
    void project(const Network& network, Workspace& workspace, const float* decoded, size_t count, float* logits,
                 size_t stride) const;

  private:
    std::vector<uint32_t> pieces_;
    Matrix matrix_;
    std::vector<float> bias_;  // of the pieces; empty where there is none
};

}  // namespace pocketmt
