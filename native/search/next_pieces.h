// The best next pieces of rows of the decoder's output. Logits of a whole vocabulary for many rows would fill the
// second-level cache several times over: they are made, and looked through, a slice of the vocabulary at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/layers.h"
#include "model/network.h"
#include "model/workspace.h"

namespace pocketmt {

struct AskedRow {
    size_t wanted;  // pieces, at least 1
    bool forbids_eos;
};

class NextPieces {
  public:
    // `most`: pieces wanted of a row at most; `scores`: whether log-probabilities are asked for.
    NextPieces(const Network& network, Workspace& workspace, size_t most, bool scores)
        : network_(network), workspace_(workspace), most_(most), scores_(scores) {}

    // Looks for the best pieces of each row of the decoder's output [rows, d], special ones but eos left out. What is
    // found of a row does not depend on the others. Throws Error where a row's best logit is no finite number.
    void find(const OutputLayer& layer, const float* decoded, std::span<const AskedRow> rows);

    // How many of the pieces that were wanted of a row there are.
    size_t found(size_t row) const;
    // The output of the layer whose piece is the best, or further from it at further places, and its log-probability.
    uint32_t output(size_t row, size_t place) const { return outputs_[row * most_ + place]; }
    double log_probability(size_t row, size_t place) const {
        if (!scores_) return 0.0;
        return static_cast<double>(values_[row * most_ + place]) - static_cast<double>(normalizers_[row]);
    }

  private:
    void find_chunk(const OutputLayer& layer, Activations& activations, size_t first_row, size_t width);
    void look_through(size_t row, size_t first_output, float* logits, size_t count);
    void finish(size_t row);

    const Network& network_;
    Workspace& workspace_;
    size_t most_;
    bool scores_;
    size_t slices_ = 0;  // of the output layer
    std::span<const AskedRow> rows_;
    std::vector<uint32_t> outputs_;         // [rows, most]
    std::vector<float> values_;             // the same, their logits
    std::vector<float> slice_normalizers_;  // [rows, slices], logarithms of sums of exponentials
    std::vector<float> normalizers_;        // [rows]
};

}  // namespace pocketmt
