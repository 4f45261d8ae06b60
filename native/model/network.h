// A network ready to run: immutable, shared by all workers.
#pragma once

#include <cstddef>
#include <span>
#include <variant>
#include <vector>

#include "model/lstm/lstm.h"
#include "model/output/shortlist.h"
#include "model/transformer/transformer.h"

namespace pocketmt {

class Network {
  public:
    // activation_bits: of the trained ranges in the file; 0: none. Throws ModelError.
    Network(const Kernels& kernels, const Description& description, const TensorSource& source,
            unsigned activation_bits, const StoredShortlist& stored);

    // Encodes sentences, with eos if the architecture appends it, and computes the keys and values that the decoder
    // reads. They lie in the workspace until it encodes again.
    std::vector<CrossAttentionCache> encode(Workspace& workspace, Sources sources, Monitor& monitor) const {
        return std::visit([&](const auto& layers) { return layers.encode(workspace, sources, monitor); }, layers_);
    }
    // Runs the decoder for hypotheses at `position`; returns its output [rows, d], valid until the workspace is used
    // again. Rows that ask for attention get the mean of all layers.
    const float* decode_step(Workspace& workspace, std::span<const DecoderRow> rows, size_t position) const {
        return std::visit([&](const auto& layers) { return layers.decode_step(workspace, rows, position); }, layers_);
    }
    // Bytes of the decoder's state of one position.
    size_t state_size() const {
        return std::visit([](const auto& layers) { return layers.state_size(); }, layers_);
    }
    // Bytes of the keys and values of one source position, without padding.
    size_t source_state_size() const {
        return std::visit([](const auto& layers) { return layers.source_state_size(); }, layers_);
    }
    // Whether a step reads the states of all earlier positions, or of the last one only.
    bool reads_all_states() const {
        return std::visit([](const auto& layers) { return layers.reads_all_states(); }, layers_);
    }

    // What is the same in every network: kernels, description, embedding and output projection.
    const NetworkBase& base() const {
        return std::visit([](const auto& layers) -> const NetworkBase& { return layers; }, layers_);
    }
    const Kernels& kernels() const { return base().kernels; }
    const Architecture& architecture() const { return base().architecture; }
    const Shortlist& shortlist() const { return shortlist_; }

  private:
    using Layers = std::variant<Transformer, Lstm>;

    static Layers load(const Kernels& kernels, const Description& description, const TensorSource& source,
                       unsigned activation_bits);

    Layers layers_;
    Shortlist shortlist_;
};

}  // namespace pocketmt
