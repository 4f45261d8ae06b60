#include "search/batch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "search/pieces/next_pieces.h"
#include "search/pieces/piece_choice.h"

namespace pocketmt {

namespace {

class BatchSearch {
  public:
    BatchSearch(const Ensemble& ensemble, EnsembleWorkspace& workspace, std::span<const Request* const> requests,
                const SearchOptions& options)
        : ensemble_(ensemble),
          workspace_(workspace),
          never_(ensemble.architecture().never_generated(options.unknown)),
          whole_(output_layer(), never_, ensemble.architecture().special_ids.eos),
          next_(ensemble, workspace, options, greatest_beam(requests, options)) {}

    std::vector<std::vector<Translation>> run(std::span<const Request* const> requests, const SearchOptions& options,
                                              Monitor& monitor) {
        std::vector<std::span<const uint32_t>> sources;
        for (const Request* request : requests) sources.emplace_back(request->source);
        const std::vector<CrossAttentionCache> caches = ensemble_.encode(workspace_, sources, monitor);
        for (size_t i = 0; i < requests.size(); ++i) {
            searches_.emplace_back(ensemble_, options, *requests[i], caches[i * ensemble_.size()]);
            live_.push_back(i);
        }
        if (options.shortlist && ensemble_.shortlist() != nullptr) select(requests, options);
        std::vector<std::vector<Translation>> results(requests.size());
        for (size_t position = 0; !live_.empty(); ++position) {
            step(position);
            std::erase_if(live_, [&](size_t sentence) {
                if (!searches_[sentence].done()) return false;
                results[sentence] = searches_[sentence].finish(workspace_.states);
                return true;
            });
            monitor.check();
        }
        return results;
    }

  private:
    static size_t greatest_beam(std::span<const Request* const> requests, const SearchOptions& options) {
        size_t greatest = 0;
        for (const Request* request : requests) greatest = std::max(greatest, beam_size(options, *request));
        return greatest;
    }

    // Gathers each sentence's rows of the output matrix. Lists that are too short for the beam are not used.
    void select(std::span<const Request* const> requests, const SearchOptions& options) {
        std::vector<Buffer<std::byte>>& memory = workspace_.each.front().selected;
        memory.resize(std::max(memory.size(), requests.size()));
        for (size_t i = 0; i < requests.size(); ++i) {
            std::vector<uint32_t> pieces = ensemble_.shortlist()->pieces(requests[i]->source);
            bool enough = generated(pieces) > options.beam_size;
            add(requests[i]->prefix, pieces);
            for (const Term& term : requests[i]->terms) add(term.pieces, pieces);
            selected_.push_back(enough ? std::make_unique<PieceChoice>(output_layer(), never_,
                                                                       ensemble_.architecture().special_ids.eos,
                                                                       std::move(pieces), memory[i])
                                       : nullptr);
        }
    }

    // How many of the pieces can be generated if unk cannot, eos included.
    size_t generated(const std::vector<uint32_t>& pieces) const {
        const std::vector<uint32_t> never = ensemble_.architecture().never_generated(false);
        return pieces.size() - static_cast<size_t>(std::ranges::count_if(
                                   never, [&](uint32_t piece) { return std::ranges::binary_search(pieces, piece); }));
    }

    static void add(const std::vector<uint32_t>& needed, std::vector<uint32_t>& pieces) {
        for (uint32_t piece : needed) {
            auto place = std::ranges::lower_bound(pieces, piece);
            if (place == pieces.end() || *place != piece) pieces.insert(place, piece);
        }
    }

    // Adds one token to every live hypothesis.
    void step(size_t position) {
        rows_.clear();
        owners_.clear();
        for (size_t sentence : live_) {
            size_t first = rows_.size();
            searches_[sentence].append_rows(rows_, workspace_.states);
            const bool restricted = !selected_.empty() && selected_[sentence] != nullptr;
            const PieceChoice* choice = restricted ? selected_[sentence].get() : &whole_;
            for (size_t row = first; row < rows_.size(); ++row)
                owners_.push_back({&searches_[sentence], choice, row - first});
        }
        ensemble_.decode_step(workspace_, rows_, position);
        for (size_t first = 0; first < rows_.size();) {
            const PieceChoice* choice = owners_[first].choice;
            size_t end = first + 1;
            while (end < rows_.size() && owners_[end].choice == choice) ++end;
            consider(*choice, first, end);
            first = end;
        }
        for (size_t sentence : live_) searches_[sentence].advance(workspace_.states);
    }

    // Considers continuations of rows `first` to `end` - 1, which choose among the same pieces. A hypothesis whose
    // rules leave no piece ends.
    void consider(const PieceChoice& choice, size_t first, size_t end) {
        ask(choice, first, end);
        next_.find(choice, first, asked_);
        for (size_t row = 0; row < end - first; ++row) {
            const Owner& owner = owners_[first + row];
            bool any = false;
            for (size_t place = 0; place < next_.found(row); ++place)
                any |= consider(owner, next_.output(row, place), next_.log_probability(row, place));
            const size_t asked = asked_[row].rules == nullptr ? 0 : asked_[row].rules->asked.size();
            for (size_t place = 0; place < asked; ++place) {
                const double log_probability = next_.asked_log_probability(row, place);
                if (std::isfinite(log_probability))
                    any |= consider(owner, asked_[row].rules->asked[place], log_probability);
            }
            if (!any) owner.search->consider_without_choice(owner.hypothesis);
        }
    }

    void ask(const PieceChoice& choice, size_t first, size_t end) {
        asked_.clear();
        rules_.resize(std::max(rules_.size(), end - first));  // before there are pointers to them
        for (size_t row = first; row < end; ++row) {
            const Owner& owner = owners_[row];
            asked_.push_back({owner.search->wanted(), owner.search->forbids_eos(), owner.search->scores()});
            if (!owner.search->has_rules()) continue;
            owner.search->set_rules(owner.hypothesis, choice, rules_[row - first]);
            asked_.back().rules = &rules_[row - first];
        }
    }

    struct Owner {
        SentenceSearch* search;
        const PieceChoice* choice;
        size_t hypothesis;
    };

    static bool consider(const Owner& owner, uint32_t output, double log_probability) {
        return owner.search->consider(owner.hypothesis, owner.choice->piece(output), log_probability);
    }

    // Of the first network.
    OutputLayer output_layer() const { return ensemble_.networks().front()->base().output_layer(); }

    const Ensemble& ensemble_;
    EnsembleWorkspace& workspace_;
    std::vector<uint32_t> never_;  // pieces that are not generated
    PieceChoice whole_;
    NextPieces next_;
    std::vector<SentenceSearch> searches_;
    // Of each sentence, null if it searches the whole vocabulary; empty if all do.
    std::vector<std::unique_ptr<PieceChoice>> selected_;
    std::vector<size_t> live_;  // sentences
    std::vector<DecoderRow> rows_;
    std::vector<Owner> owners_;  // of rows
    std::vector<AskedRow> asked_;
    std::vector<RowRules> rules_;  // of asked rows
};

}  // namespace

std::vector<std::vector<Translation>> translate_batch(const Ensemble& ensemble, EnsembleWorkspace& workspace,
                                                      std::span<const Request* const> requests,
                                                      const SearchOptions& options, Monitor& monitor) {
    return BatchSearch(ensemble, workspace, requests, options).run(requests, options, monitor);
}

std::vector<float> forced_logits(const Ensemble& ensemble, EnsembleWorkspace& workspace,
                                 std::span<const uint32_t> source, std::span<const uint32_t> target, Monitor& monitor) {
    const size_t vocabulary_size = ensemble.architecture().vocabulary_size;
    const std::vector<CrossAttentionCache> caches = ensemble.encode(workspace, std::span(&source, 1), monitor);
    std::vector<float> logits((target.size() + 1) * vocabulary_size), own(vocabulary_size);
    std::vector<std::byte*> states;
    for (size_t position = 0; position <= target.size(); ++position) {
        states.push_back(workspace.states.take());
        std::optional<uint32_t> token = ensemble.architecture().first_decoder_input;
        if (position > 0) token = target[position - 1];
        DecoderRow row{token, caches.data(), states.data()};
        ensemble.decode_step(workspace, std::span(&row, 1), position);
        float* sum = logits.data() + position * vocabulary_size;
        for (size_t i = 0; i < ensemble.size(); ++i) {
            const NetworkBase& base = ensemble.networks()[i]->base();
            const OutputLayer layer = base.output_layer();
            Activations activations = base.output_activations(workspace.each[i], workspace.decoded[i], 1);
            layer.matrix.multiply(activations, {layer.bias}, own.data(), vocabulary_size);
            if (ensemble.size() == 1) {
                std::ranges::copy(own, sum);
                break;
            }
            const float normalizer = base.kernels.vector.log_sum_exp(own.data(), vocabulary_size);
            for (size_t piece = 0; piece < vocabulary_size; ++piece)
                sum[piece] += (own[piece] - normalizer) / static_cast<float>(ensemble.size());
        }
        monitor.check();
    }
    return logits;
}

size_t state_bytes(const Ensemble& ensemble, const Request& request, const SearchOptions& options) {
    const std::vector<uint32_t>& source = request.source;
    const size_t positions = ensemble.architecture().source_positions(source.size());
    // Without earlier states, only those of the last position and of the current one.
    const size_t states = ensemble.reads_all_states() ? source.size() + 1 : 2;
    size_t selected = 0;
    if (options.shortlist && ensemble.shortlist() != nullptr)
        selected = ensemble.shortlist()->most_pieces(source) *
                   ensemble.networks().front()->base().output_matrix().bytes() /
                   ensemble.architecture().vocabulary_size;
    return positions * ensemble.source_state_size() + states * ensemble.state_size() * beam_size(options, request) +
           selected;
}

}  // namespace pocketmt
