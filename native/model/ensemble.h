// The networks that a search asks together: each step uses the mean of their log-probabilities. Usually there is one.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "model/network.h"

namespace pocketmt {

// The buffers of one worker.
struct EnsembleWorkspace {
    // networks: how many; state_size: bytes of a decoder state of all of them.
    EnsembleWorkspace(size_t networks, size_t state_size) : each(networks), states(state_size) {}

    // Called after each batch; frees buffers that a batch of unusual size made large.
    void reset();

    std::vector<Workspace> each;  // of each network
    StatePool states;
    std::vector<DecoderRow> rows;         // of the network that runs
    std::vector<std::byte*> state_parts;  // of its rows: its parts of the states of all positions
    std::vector<const float*> decoded;    // of each network [rows, d]
};

class Ensemble {
  public:
    // The networks have the same vocabularies. Throws Error if they differ in kernels, in the sizes of vocabularies, in
    // special pieces or those that are never generated, in whether the encoder reads the end of a source, or in what
    // the decoder reads first.
    explicit Ensemble(std::vector<std::shared_ptr<const Network>> networks);

    std::span<const std::shared_ptr<const Network>> networks() const { return networks_; }
    size_t size() const { return networks_.size(); }
    EnsembleWorkspace make_workspace() const { return {size(), state_size()}; }

    // As Network::encode, for each network: returns [sentences, networks].
    std::vector<CrossAttentionCache> encode(EnsembleWorkspace& workspace, Sources sources, Monitor& monitor) const;
    // As Network::decode_step, for each network: `workspace.decoded` are the outputs. The caches of the rows are those
    // of the first network, which `encode` returned with the others. Rows that ask for attention get the mean of all
    // networks.
    void decode_step(EnsembleWorkspace& workspace, std::span<const DecoderRow> rows, size_t position) const;

    // As those of Network, of all networks together.
    size_t state_size() const;
    size_t source_state_size() const;
    bool reads_all_states() const;

    // What is the same in all networks.
    const Kernels& kernels() const { return networks_.front()->kernels(); }
    // That of the first network: only what concerns pieces is the same in the others.
    const Architecture& architecture() const { return networks_.front()->architecture(); }
    // The shortlist of a single network; null: there is none, or there are several networks.
    const Shortlist* shortlist() const;

  private:
    // The rows for a network, whose part of each state begins at `first`.
    std::span<const DecoderRow> rows_of(EnsembleWorkspace& workspace, std::span<const DecoderRow> rows, size_t position,
                                        size_t network, size_t first) const;

    std::vector<std::shared_ptr<const Network>> networks_;
};

}  // namespace pocketmt
