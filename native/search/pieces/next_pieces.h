// The best next pieces of rows of the decoders' outputs, by the mean of the networks' log-probabilities. Logits of the
// whole vocabulary for many rows would not fit the second-level cache, so they are computed and searched in slices of
// the vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/ensemble.h"
#include "search/pieces/constraints.h"
#include "search/pieces/sampling.h"

namespace pocketmt {

struct AskedRow {
    size_t wanted;  // number of pieces, at least 1
    bool forbids_eos;
    bool scores;                      // whether log-probabilities are needed
    const RowRules* rules = nullptr;  // null: none
};

class NextPieces {
  public:
    // most: highest number of pieces wanted of a row.
    NextPieces(const Ensemble& ensemble, EnsembleWorkspace& workspace, const SearchOptions& options, size_t most);

    // Finds the best pieces of each of `rows`, the rows from `first` on of the decoders' outputs in the workspace, or
    // the one that is forced or drawn, without pieces that are never generated unless they are forced. The result of a
    // row does not depend on other rows. Throws Error if a row's best logit is not a finite number.
    void find(const PieceChoice& choice, size_t first, std::span<const AskedRow> rows);

    // How many of the wanted pieces of a row exist.
    size_t found(size_t row) const;
    // The output of the best piece at place 0, the second best at 1, and so on.
    uint32_t output(size_t row, size_t place) const { return outputs_[row * most_ + place]; }
    double log_probability(size_t row, size_t place) const {
        if (!rows_[row].scores) return 0.0;
        return static_cast<double>(values_[row * most_ + place]) - static_cast<double>(normalizers_[row]);
    }
    // Of an output that the row's rules ask for, by its place there; -inf if it is banned.
    double asked_log_probability(size_t row, size_t place) const {
        return static_cast<double>(asked_values_[row][place]) - static_cast<double>(normalizers_[row]);
    }

  private:
    // Searches `count` rows from `first_row` on, `width` outputs at a time; `skipped`: rows of the decoders' outputs
    // before those that are searched.
    void find_chunk(size_t skipped, size_t first_row, size_t count, size_t width);
    OutputLayer layer(size_t network) const;
    // Makes logits of pieces that must not follow -inf.
    void mask(size_t row, size_t first_output, float* logits, size_t count) const;
    // `logits`: of each network, the first of which become their mean.
    void search_slices(size_t row, size_t first_output, std::span<float* const> logits, size_t count);
    float& slice_normalizer(size_t row, size_t network, size_t slice) {
        return slice_normalizers_[(row * ensemble_.size() + network) * slices_ + slice];
    }
    // Keeps the forced or drawn piece of a row, if it is among these outputs.
    void choose(size_t row, size_t first_output, const float* logits, size_t count);
    void finish(size_t row);

    const Ensemble& ensemble_;
    EnsembleWorkspace& workspace_;
    size_t most_;
    double repetition_penalty_;
    std::optional<Sampler> sampler_;
    const PieceChoice* choice_ = nullptr;
    size_t slices_ = 0;  // of the output layer
    std::span<const AskedRow> rows_;
    std::vector<uint32_t> outputs_;                 // [rows, most]
    std::vector<float> values_;                     // the same, their logits
    std::vector<float> slice_normalizers_;          // [rows, networks, slices], logarithms of sums of exponentials
    std::vector<float> normalizers_;                // [rows], the mean of the networks'
    std::vector<Activations> chunk_;                // the rows that are computed at a time, of each network
    std::vector<float*> logits_;                    // of each network
    std::vector<float*> row_logits_;                // the same, of one row
    std::vector<std::vector<float>> asked_values_;  // [rows], logits of what rules ask for
};

}  // namespace pocketmt
