#include "search/pieces/next_pieces.h"

#include <algorithm>
#include <cmath>
#include <functional>
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

// Makes the first of `logits` the mean of all, for `count` outputs from `first` on.
void average(std::span<float* const> logits, size_t first, size_t count) {
    const float factor = 1.0f / static_cast<float>(logits.size());
    float* mean = logits[0] + first;
    for (size_t network = 1; network < logits.size(); ++network)
        std::transform(mean, mean + count, logits[network] + first, mean, std::plus<float>());
    for (size_t i = 0; i < count; ++i) mean[i] *= factor;
}

}  // namespace

NextPieces::NextPieces(const Ensemble& ensemble, EnsembleWorkspace& workspace, const SearchOptions& options,
                       size_t most)
    : ensemble_(ensemble),
      workspace_(workspace),
      most_(most),
      repetition_penalty_(options.repetition_penalty),
      logits_(ensemble.size()),
      row_logits_(ensemble.size()) {
    if (options.sampling) sampler_.emplace(*options.sampling);
}

void NextPieces::find(const PieceChoice& choice, size_t first, std::span<const AskedRow> rows) {
    choice_ = &choice;
    const size_t size = layer(0).matrix.rows();
    slices_ = (size + slice_outputs - 1) / slice_outputs;
    rows_ = rows;
    outputs_.resize(rows.size() * most_);
    values_.assign(rows.size() * most_, never);
    slice_normalizers_.resize(rows.size() * ensemble_.size() * slices_);
    normalizers_.resize(rows.size());
    asked_values_.resize(std::max(asked_values_.size(), rows.size()));
    for (size_t row = 0; row < rows.size(); ++row) {
        if (rows[row].rules != nullptr) asked_values_[row].resize(rows[row].rules->asked.size());
    }
    // A few rows are computed at once: slices would not be faster.
    // A piece is drawn among all at once.
    bool sliced = !sampler_ && rows.size() * size > slice_rows * slice_outputs;
    for (size_t network = 0; network < ensemble_.size(); ++network) sliced &= layer(network).matrix.splittable();
    const size_t most_rows = sliced ? slice_rows : std::max<size_t>(1, whole_logits / size);
    for (size_t row = 0; row < rows.size(); row += most_rows)
        find_chunk(first, row, std::min(most_rows, rows.size() - row), sliced ? slice_outputs : size);
    for (size_t row = 0; row < rows.size(); ++row) finish(row);
}

OutputLayer NextPieces::layer(size_t network) const {
    return network == 0 ? choice_->layer() : ensemble_.networks()[network]->base().output_layer();
}

void NextPieces::find_chunk(size_t skipped, size_t first_row, size_t count, size_t width) {
    const size_t size = layer(0).matrix.rows(), stride = round_up(width, buffer_alignment / sizeof(float));
    chunk_.clear();
    for (size_t network = 0; network < ensemble_.size(); ++network) {
        const NetworkBase& base = ensemble_.networks()[network]->base();
        const float* decoded = workspace_.decoded[network] + (skipped + first_row) * base.architecture.model_dimension;
        chunk_.push_back(base.output_activations(workspace_.each[network], decoded, count));
        logits_[network] = workspace_.each[network].logits.ensure(count * stride);
    }
    for (size_t first = 0; first < size; first += width) {
        const size_t last = std::min(first + width, size);
        for (size_t network = 0; network < ensemble_.size(); ++network) {
            const OutputLayer output = layer(network);
            if (width == size) {
                output.matrix.multiply(chunk_[network], {output.bias}, logits_[network], stride);
            } else {
                output.matrix.multiply_part(chunk_[network], {output.bias}, {logits_[network], stride, first, last});
            }
        }
        for (size_t row = 0; row < count; ++row) {
            for (size_t network = 0; network < ensemble_.size(); ++network)
                row_logits_[network] = logits_[network] + row * stride;
            search_slices(first_row + row, first, row_logits_, last - first);
        }
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
void NextPieces::search_slices(size_t row, size_t first_output, std::span<float* const> logits, size_t count) {
    const VectorFunctions& vector = ensemble_.kernels().vector;
    const RowRules* rules = rows_[row].rules;
    for (float* each : logits) {
        mask(row, first_output, each, count);
        if (rules != nullptr) apply(*rules, repetition_penalty_, first_output, each, count);
    }
    const bool chosen = rules != nullptr && (rules->forced || sampler_);
    for (size_t first = 0; first < count; first += slice_outputs) {
        const size_t size = std::min(slice_outputs, count - first), output = first_output + first;
        for (size_t network = 0; rows_[row].scores && network < logits.size(); ++network) {
            slice_normalizer(row, network, output / slice_outputs) = vector.log_sum_exp(logits[network] + first, size);
        }
        float* mean = logits[0] + first;
        if (logits.size() > 1) average(logits, first, size);
        if (chosen) continue;
        vector.top_k(mean, size, static_cast<uint32_t>(output), rows_[row].wanted, outputs_.data() + row * most_,
                     values_.data() + row * most_);
        // Rules may leave no piece: then all logits are -inf. NaN is not found either.
        const bool found_none = rules != nullptr && values_[row * most_] == never;
        if (found_none && std::any_of(mean, mean + size, [](float each) { return std::isnan(each); }))
            throw Error(not_finite);
    }
    if (rules != nullptr) keep_asked(*rules, first_output, logits[0], count, asked_values_[row]);
    if (chosen) choose(row, first_output, logits[0], count);
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
    if (scores) {
        float sum = 0.0f;
        for (size_t network = 0; network < ensemble_.size(); ++network)
            sum += ensemble_.kernels().vector.log_sum_exp(&slice_normalizer(row, network, 0), slices_);
        normalizers_[row] = sum / static_cast<float>(ensemble_.size());
    }
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
