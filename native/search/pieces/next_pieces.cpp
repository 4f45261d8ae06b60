#include "search/pieces/next_pieces.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/runtime/error.h"
#include "search/pieces/not_finite.h"

namespace pocketmt {

namespace {

constexpr float never = -std::numeric_limits<float>::infinity();
// Outputs and rows computed at a time: with their weights they stay in a second-level cache, and weights serve many
// rows.
constexpr size_t slice_outputs = 2048;
constexpr size_t slice_rows = 64;
static_assert(slice_outputs % part_outputs == 0);
// Logits computed at a time if the matrix cannot be multiplied in parts: 32 rows of 32,000 floats are 4 MB.
constexpr size_t whole_logits = size_t{1} << 20;

// change(logit) for each of `outputs`, which are ascending, that is among the `count` outputs from `first` on.
template <class Change>
void for_each(const std::vector<uint32_t>& outputs, size_t first, float* logits, size_t count, Change&& change) {
    for (auto it = std::ranges::lower_bound(outputs, first); it != outputs.end() && *it < first + count; ++it)
        change(logits[*it - first]);
}

void exclude(float& logit) {
    logit = never;
}

// Keeps the logits of the outputs from `first` on that rules ask for.
void keep_asked(const RowRules& rules, size_t first, const float* logits, size_t count, std::vector<float>& values) {
    for (size_t place = 0; place < rules.asked.size(); ++place) {
        const size_t output = rules.asked[place];
        if (output >= first && output < first + count) values[place] = logits[output - first];
    }
}

// Applies the rules of a row to its logits of the outputs from `first` on.
void apply(const RowRules& rules, double repetition_penalty, size_t first, float* logits, size_t count) {
    const float penalty = static_cast<float>(repetition_penalty);
    for_each(rules.penalized, first, logits, count,
             [&](float& logit) { logit = logit < 0.0f ? logit * penalty : logit / penalty; });
    for_each(rules.banned, first, logits, count, exclude);
}

}  // namespace

NextPieces::NextPieces(const Network& network, Workspace& workspace, const SearchOptions& options, size_t most)
    : network_(network), workspace_(workspace), most_(most), repetition_penalty_(options.repetition_penalty) {
    if (options.sampling) sampler_.emplace(*options.sampling);
}

void NextPieces::find(const PieceChoice& choice, const float* decoded, std::span<const AskedRow> rows) {
    const OutputLayer layer = choice.layer();
    choice_ = &choice;
    const size_t d = network_.architecture().model_dimension, size = layer.matrix.rows();
    slices_ = (size + slice_outputs - 1) / slice_outputs;
    rows_ = rows;
    outputs_.resize(rows.size() * most_);
    values_.assign(rows.size() * most_, never);
    slice_normalizers_.resize(rows.size() * slices_);
    normalizers_.resize(rows.size());
    asked_values_.resize(std::max(asked_values_.size(), rows.size()));
    for (size_t row = 0; row < rows.size(); ++row) {
        if (rows[row].rules != nullptr) asked_values_[row].resize(rows[row].rules->asked.size());
    }
    // A few rows are computed at once: slices would not be faster.
    // A piece is drawn among all at once.
    const bool sliced = !sampler_ && layer.matrix.splittable() && rows.size() * size > slice_rows * slice_outputs;
    const size_t most_rows = sliced ? slice_rows : std::max<size_t>(1, whole_logits / size);
    for (size_t first = 0; first < rows.size(); first += most_rows) {
        const size_t count = std::min(most_rows, rows.size() - first);
        Activations activations = network_.base().output_activations(workspace_, decoded + first * d, count);
        find_chunk(layer, activations, first, sliced ? slice_outputs : size);
    }
    for (size_t row = 0; row < rows.size(); ++row) finish(row);
}

// width: outputs computed at a time.
void NextPieces::find_chunk(const OutputLayer& layer, Activations& activations, size_t first_row, size_t width) {
    const size_t size = layer.matrix.rows(), stride = round_up(width, buffer_alignment / sizeof(float));
    float* logits = workspace_.logits.ensure(activations.count() * stride);
    for (size_t first = 0; first < size; first += width) {
        const size_t last = std::min(first + width, size);
        if (width == size) {
            layer.matrix.multiply(activations, {layer.bias}, logits, stride);
        } else {
            layer.matrix.multiply_part(activations, {layer.bias}, {logits, stride, first, last});
        }
        for (size_t row = 0; row < activations.count(); ++row)
            search_slices(first_row + row, first, logits + row * stride, last - first);
    }
}

void NextPieces::mask(size_t row, size_t first_output, float* logits, size_t count) const {
    const RowRules* rules = rows_[row].rules;
    const bool forced =
        rules != nullptr && rules->forced && *rules->forced >= first_output && *rules->forced < first_output + count;
    float* kept = forced ? logits + (*rules->forced - first_output) : nullptr;
    const float logit = kept != nullptr ? *kept : 0.0f;
    for_each(choice_->never(), first_output, logits, count, exclude);
    const size_t eos = choice_->eos();
    if (rows_[row].forbids_eos && eos >= first_output && eos < first_output + count)
        exclude(logits[eos - first_output]);
    if (kept != nullptr) *kept = logit;
}

// Slices do not depend on how many outputs were computed at a time, so sums are the same bit for bit.
void NextPieces::search_slices(size_t row, size_t first_output, float* logits, size_t count) {
    const VectorFunctions& vector = network_.kernels().vector;
    mask(row, first_output, logits, count);
    const RowRules* rules = rows_[row].rules;
    if (rules != nullptr) {
        apply(*rules, repetition_penalty_, first_output, logits, count);
        keep_asked(*rules, first_output, logits, count, asked_values_[row]);
    }
    const bool chosen = rules != nullptr && (rules->forced || sampler_);
    for (size_t first = 0; first < count; first += slice_outputs) {
        const size_t size = std::min(slice_outputs, count - first), output = first_output + first;
        if (rows_[row].scores) {
            slice_normalizers_[row * slices_ + output / slice_outputs] = vector.log_sum_exp(logits + first, size);
        }
        if (chosen) continue;
        vector.top_k(logits + first, size, static_cast<uint32_t>(output), rows_[row].wanted,
                     outputs_.data() + row * most_, values_.data() + row * most_);
        // Rules may leave no piece: then all logits are -inf. NaN is not found either.
        const bool found_none = rules != nullptr && values_[row * most_] == never;
        if (found_none &&
            std::any_of(logits + first, logits + first + size, [](float each) { return std::isnan(each); }))
            throw Error(not_finite);
    }
    if (chosen) choose(row, first_output, logits, count);
}

void NextPieces::choose(size_t row, size_t first_output, const float* logits, size_t count) {
    const RowRules& rules = *rows_[row].rules;
    size_t output = 0;
    if (rules.forced) {
        output = *rules.forced;
        if (output < first_output || output >= first_output + count) return;
    } else {
        const std::optional<uint32_t> drawn = sampler_->choose(logits, count, rules.draw);
        if (!drawn) return;
        output = *drawn;
    }
    outputs_[row * most_] = static_cast<uint32_t>(output);
    values_[row * most_] = logits[output - first_output];
}

void NextPieces::finish(size_t row) {
    const bool scores = rows_[row].scores;
    if (scores) normalizers_[row] = network_.kernels().vector.log_sum_exp(&slice_normalizers_[row * slices_], slices_);
    // Rules may leave no piece.
    if (rows_[row].rules != nullptr && values_[row * most_] == never) return;
    if (!std::isfinite(scores ? normalizers_[row] : values_[row * most_])) throw Error(not_finite);
}

size_t NextPieces::found(size_t row) const {
    size_t place = 0;
    while (place < rows_[row].wanted && values_[row * most_ + place] > never) ++place;
    return place;
}

}  // namespace pocketmt
