#include "search/batch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "model/error.h"
#include "model/layers.h"
#include "model/selected_output.h"
#include "search/next_pieces.h"

namespace pocketmt {

namespace {

class BatchSearch {
  public:
    BatchSearch(const Network& network, Workspace& workspace, const SearchOptions& options)
        : network_(network),
          workspace_(workspace),
          next_(network, workspace, options.beam_size, options.scores || options.beam_size > 1) {}

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
        asked_.clear();
        for (size_t row = first; row < end; ++row)
            asked_.push_back({owners_[row].search->wanted(), owners_[row].search->forbids_eos()});
        const OutputLayer layer = output == nullptr ? output_layer(network_) : output->layer();
        next_.find(layer, decoded + first * network_.architecture.model_dimension, asked_);
        for (size_t row = 0; row < end - first; ++row) {
            const Owner& owner = owners_[first + row];
            for (size_t place = 0; place < next_.found(row); ++place) {
                uint32_t found = next_.output(row, place);
                uint32_t piece = output == nullptr ? found : output->pieces()[found];
                owner.search->consider(owner.hypothesis, piece, next_.log_probability(row, place));
            }
        }
    }

    struct Owner {
        SentenceSearch* search;
        const SelectedOutput* output;
        size_t hypothesis;
    };

    const Network& network_;
    Workspace& workspace_;
    NextPieces next_;
    std::vector<SentenceSearch> searches_;
    // Of each sentence, null where it searches the whole vocabulary; empty where all do.
    std::vector<std::unique_ptr<SelectedOutput>> selected_;
    std::vector<size_t> live_;  // sentences
    std::vector<DecoderRow> rows_;
    std::vector<Owner> owners_;  // of rows
    std::vector<AskedRow> asked_;
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
    const OutputLayer layer = output_layer(network);
    for (size_t position = 0; position <= target.size(); ++position) {
        history.push_back(workspace.cache.take());
        uint32_t token = position == 0 ? uint32_t{bos_token} : target[position - 1];
        DecoderRow row{token, &memories[0], history.data()};
        const float* decoded = decode_step(network, workspace, std::span(&row, 1), position);
        Activations activations = output_activations(network, workspace, decoded, 1);
        layer.matrix.multiply(activations, {layer.bias}, logits.data() + position * vocabulary_size, vocabulary_size);
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
    size_t elements = positions * memory + kept * architecture.history() * options.beam_size;
    return elements * network.weights.attended_bytes() + selected;
}

}  // namespace pocketmt
