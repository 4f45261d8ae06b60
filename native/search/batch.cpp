#include "search/batch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "model/error.h"
#include "model/layers.h"
#include "model/selected_output.h"

namespace pocketmt {

namespace {

// Of the logits computed at a time: 32 rows of 32,000 floats are 4 MB.
constexpr size_t logits_bytes = size_t{4} << 20;

class BatchSearch {
  public:
    BatchSearch(const Network& network, Workspace& workspace, const SearchOptions& options)
        : network_(network), workspace_(workspace) {
        size_t vocabulary_size = network.architecture.vocabulary_size;
        stride_ = round_up(vocabulary_size, buffer_alignment / sizeof(float));
        chunk_rows_ = std::max<size_t>(1, logits_bytes / (stride_ * sizeof(float)));
        indices_.resize(options.beam_size);
        values_.resize(options.beam_size);
        scores_ = options.scores || options.beam_size > 1;
    }

    std::vector<std::vector<Translation>> run(std::span<const std::span<const uint32_t>> sources,
                                              const SearchOptions& options, Monitor& monitor) {
        std::vector<Memory> memories = encode(network_, workspace_, sources, monitor);
        for (size_t i = 0; i < sources.size(); ++i) {
            searches_.emplace_back(options, sources[i].size(), memories[i], network_.architecture.attends_history());
            live_.push_back(i);
        }
        if (options.shortlist && network_.shortlist.present()) select(sources, options);
        std::vector<std::vector<Translation>> results(sources.size());
        for (size_t position = 0; !live_.empty(); ++position) {
            step(position);
            std::erase_if(live_, [&](size_t sentence) {
                if (!searches_[sentence].done()) return false;
                results[sentence] = searches_[sentence].finish(workspace_.cache);
                return true;
            });
            monitor.check();
        }
        return results;
    }

  private:
    // Gathers each sentence's rows of the output matrix. A list too short for a beam is not used.
    void select(std::span<const std::span<const uint32_t>> sources, const SearchOptions& options) {
        workspace_.selected.resize(std::max(workspace_.selected.size(), sources.size()));
        for (size_t i = 0; i < sources.size(); ++i) {
            std::vector<uint32_t> pieces = network_.shortlist.pieces(sources[i]);
            bool enough = pieces.size() >= special_tokens + options.beam_size;
            selected_.push_back(
                enough ? std::make_unique<SelectedOutput>(network_, std::move(pieces), workspace_.selected[i])
                       : nullptr);
        }
    }

    // One more token of every live hypothesis.
    void step(size_t position) {
        rows_.clear();
        owners_.clear();
        for (size_t sentence : live_) {
            size_t first = rows_.size();
            searches_[sentence].append_rows(rows_, workspace_.cache);
            const SelectedOutput* output = selected_.empty() ? nullptr : selected_[sentence].get();
            for (size_t row = first; row < rows_.size(); ++row)
                owners_.push_back({&searches_[sentence], output, row - first});
        }
        const float* decoded = decode_step(network_, workspace_, rows_, position);
        for (size_t first = 0; first < rows_.size();) {
            const SelectedOutput* output = owners_[first].output;
            size_t end = first + 1;
            while (end < rows_.size() && owners_[end].output == output) ++end;
            choose(output, decoded, first, end);
            first = end;
        }
        for (size_t sentence : live_) searches_[sentence].advance(workspace_.cache);
    }

    // What may come after rows `first` to `end` - 1, which share an output layer: a sentence's own, or, where `output`
    // is null, that of the whole vocabulary.
    void choose(const SelectedOutput* output, const float* decoded, size_t first, size_t end) {
        size_t d = network_.architecture.model_dimension;
        for (size_t count; first < end; first += count) {
            count = std::min(chunk_rows_, end - first);
            float* logits = workspace_.logits.ensure(count * stride_);
            if (output == nullptr) {
                project_output(network_, workspace_, decoded + first * d, count, logits, stride_);
            } else {
                output->project(network_, workspace_, decoded + first * d, count, logits, stride_);
            }
            for (size_t row = 0; row < count; ++row) consider(owners_[first + row], logits + row * stride_);
        }
    }

    struct Owner {
        SentenceSearch* search;
        const SelectedOutput* output;
        size_t hypothesis;
    };

    void consider(const Owner& owner, float* logits) {
        constexpr float never = -std::numeric_limits<float>::infinity();
        const VectorFunctions& vector = network_.kernels.vector;
        size_t size = owner.output == nullptr ? network_.architecture.vocabulary_size : owner.output->pieces().size();
        // Special pieces stand at their ids in a shortlist, too.
        logits[pad_token] = logits[bos_token] = logits[unk_token] = never;
        if (owner.search->forbids_eos()) logits[eos_token] = never;
        double normalizer = scores_ ? static_cast<double>(vector.log_sum_exp(logits, size)) : 0.0;
        if (!std::isfinite(normalizer)) refuse_logits();
        size_t wanted = owner.search->wanted();
        if (wanted == 1) {
            indices_[0] = static_cast<uint32_t>(vector.argmax(logits, size));
            values_[0] = indices_[0] < size ? logits[indices_[0]] : never;
            if (!std::isfinite(values_[0])) refuse_logits();
        } else {
            vector.top_k(logits, size, wanted, indices_.data(), values_.data());
        }
        for (size_t i = 0; i < wanted; ++i) {
            if (indices_[i] >= size || !(values_[i] > never)) continue;  // fewer than wanted can be generated
            double log_probability = scores_ ? static_cast<double>(values_[i]) - normalizer : 0.0;
            uint32_t piece = owner.output == nullptr ? indices_[i] : owner.output->pieces()[indices_[i]];
            owner.search->consider(owner.hypothesis, piece, log_probability);
        }
    }

    [[noreturn]] static void refuse_logits() {
        throw Error("the network's logits are not finite numbers: its weights are broken or far too large");
    }

    const Network& network_;
    Workspace& workspace_;
    size_t stride_;      // of logits
    size_t chunk_rows_;  // of logits
    bool scores_;
    std::vector<SentenceSearch> searches_;
    // Of each sentence, null where it searches the whole vocabulary; empty where all do.
    std::vector<std::unique_ptr<SelectedOutput>> selected_;
    std::vector<size_t> live_;  // sentences
    std::vector<DecoderRow> rows_;
    std::vector<Owner> owners_;  // of rows
    std::vector<uint32_t> indices_;
    std::vector<float> values_;
};

}  // namespace

std::vector<std::vector<Translation>> translate_batch(const Network& network, Workspace& workspace,
                                                      std::span<const std::span<const uint32_t>> sources,
                                                      const SearchOptions& options, Monitor& monitor) {
    return BatchSearch(network, workspace, options).run(sources, options, monitor);
}

std::vector<float> forced_logits(const Network& network, Workspace& workspace, std::span<const uint32_t> source,
                                 std::span<const uint32_t> target, Monitor& monitor) {
    size_t vocabulary_size = network.architecture.vocabulary_size;
    std::vector<Memory> memories = encode(network, workspace, std::span(&source, 1), monitor);
    std::vector<float> logits((target.size() + 1) * vocabulary_size);
    std::vector<std::byte*> history;
    for (size_t position = 0; position <= target.size(); ++position) {
        history.push_back(workspace.cache.take());
        uint32_t token = position == 0 ? uint32_t{bos_token} : target[position - 1];
        DecoderRow row{token, &memories[0], history.data()};
        const float* decoded = decode_step(network, workspace, std::span(&row, 1), position);
        project_output(network, workspace, decoded, 1, logits.data() + position * vocabulary_size, vocabulary_size);
        monitor.check();
    }
    return logits;
}

size_t state_bytes(const Network& network, std::span<const uint32_t> source, const SearchOptions& options) {
    const Architecture& architecture = network.architecture;
    size_t memory = 2 * architecture.queries(), selected = 0, positions = source.size() + 1;
    // The one before and the one that is being made, where no earlier ones are read.
    size_t kept = architecture.attends_history() ? positions : 2;
    if (options.shortlist && network.shortlist.present())
        selected =
            network.shortlist.most_pieces(source) * network.weights.embedding.bytes() / architecture.vocabulary_size;
    return (positions * memory + kept * architecture.history() * options.beam_size) * sizeof(float) + selected;
}

}  // namespace pocketmt
