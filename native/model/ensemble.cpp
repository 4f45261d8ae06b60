#include "model/ensemble.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/runtime/error.h"

namespace pocketmt {

namespace {

// Bytes of a network's part of a state, so that the next one begins as aligned as a state.
size_t state_part(const Network& network) {
    return round_up(network.state_size(), buffer_alignment);
}

bool same_pieces(const Architecture& left, const Architecture& right) {
    return left.special_ids == right.special_ids && left.source_eos == right.source_eos &&
           left.never_generated(true) == right.never_generated(true) &&
           left.never_generated(false) == right.never_generated(false);
}

// Null if two networks can translate together, or in what they differ.
const char* difference(const Network& left, const Network& right) {
    const Architecture &one = left.architecture(), &other = right.architecture();
    if (&left.kernels() != &right.kernels()) return "instruction sets";
    if (one.vocabulary_size != other.vocabulary_size || one.source_vocabulary_size != other.source_vocabulary_size)
        return "the sizes of their vocabularies";
    if (!same_pieces(one, other)) return "special pieces, or in those that are never generated";
    if (one.append_source_eos != other.append_source_eos) return "whether the encoder reads the end of a source";
    if (one.first_decoder_input != other.first_decoder_input) return "what the decoder reads first";
    return nullptr;
}

}  // namespace

void EnsembleWorkspace::reset() {
    for (Workspace& workspace : each) workspace.reset();
    states.reset(kept_bytes);
    if (state_parts.capacity() * sizeof(std::byte*) > kept_bytes) state_parts = {};
}

Ensemble::Ensemble(std::vector<std::shared_ptr<const Network>> networks) : networks_(std::move(networks)) {
    if (networks_.empty()) throw Error("an ensemble needs a model");
    for (size_t i = 1; i < size(); ++i) {
        if (const char* what = difference(*networks_.front(), *networks_[i]))
            throw Error("models 1 and " + std::to_string(i + 1) + " of the ensemble differ in " + what);
    }
}

std::vector<CrossAttentionCache> Ensemble::encode(EnsembleWorkspace& workspace, Sources sources,
                                                  Monitor& monitor) const {
    std::vector<CrossAttentionCache> caches(sources.size() * size());
    for (size_t network = 0; network < size(); ++network) {
        const auto encoded = networks_[network]->encode(workspace.each[network], sources, monitor);
        for (size_t i = 0; i < sources.size(); ++i) caches[i * size() + network] = encoded[i];
    }
    return caches;
}

void Ensemble::decode_step(EnsembleWorkspace& workspace, std::span<const DecoderRow> rows, size_t position) const {
    workspace.decoded.clear();
    size_t first = 0;
    for (size_t network = 0; network < size(); ++network) {
        const auto own = network == 0 ? rows : rows_of(workspace, rows, position, network, first);
        workspace.decoded.push_back(networks_[network]->decode_step(workspace.each[network], own, position));
        first += state_part(*networks_[network]);
    }
    if (size() == 1) return;
    for (const DecoderRow& row : rows) {
        if (row.attention == nullptr) continue;
        float* end = row.attention + row.cross_attention_cache->positions;
        std::for_each(row.attention, end, [&](float& weight) { weight /= static_cast<float>(size()); });
    }
}

std::span<const DecoderRow> Ensemble::rows_of(EnsembleWorkspace& workspace, std::span<const DecoderRow> rows,
                                              size_t position, size_t network, size_t first) const {
    const size_t positions = position + 1;
    workspace.rows.assign(rows.begin(), rows.end());
    workspace.state_parts.resize(rows.size() * positions);
    for (size_t i = 0; i < rows.size(); ++i) {
        DecoderRow& row = workspace.rows[i];
        std::byte** parts = workspace.state_parts.data() + i * positions;
        // Earlier states may have been given back; those that are read have not.
        for (size_t earlier = 0; earlier < positions; ++earlier) parts[earlier] = row.states[earlier] + first;
        row.states = parts;
        row.cross_attention_cache += network;
    }
    return workspace.rows;
}

size_t Ensemble::state_size() const {
    if (size() == 1) return networks_.front()->state_size();
    size_t bytes = 0;
    for (const auto& network : networks_) bytes += state_part(*network);
    return bytes;
}

size_t Ensemble::source_state_size() const {
    size_t bytes = 0;
    for (const auto& network : networks_) bytes += network->source_state_size();
    return bytes;
}

bool Ensemble::reads_all_states() const {
    return std::ranges::any_of(networks_, [](const auto& network) { return network->reads_all_states(); });
}

const Shortlist* Ensemble::shortlist() const {
    const Shortlist& own = networks_.front()->shortlist();
    return size() == 1 && own.present() ? &own : nullptr;
}

}  // namespace pocketmt
