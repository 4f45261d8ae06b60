// The description of a network: the fields of pocketmt.model_file.architecture, by the same names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "model/description/fields.h"

namespace pocketmt {

constexpr size_t max_layers = 256;
constexpr size_t max_dimension = 65536;  // inputs of a matrix: 127 * 127 * 65536 still fits a 32-bit sum
constexpr size_t max_vocabulary = size_t{1} << 24;
// Elements that a decoder keeps of a position, 4 MiB of floats. No real network has a quarter as many; without this
// limit, a small file of many wide layers could ask for any memory.
constexpr size_t max_position_elements = size_t{1} << 20;

// Ids of the special pieces of the target, any ids of the vocabulary.
struct SpecialIds {
    std::optional<uint32_t> pad, bos;  // none: the vocabulary has no such piece
    uint32_t eos, unk;

    bool operator==(const SpecialIds&) const = default;
    bool contain(uint32_t piece) const { return piece == pad || piece == bos || piece == eos || piece == unk; }
};

// Fields that all networks have.
struct Architecture {
    size_t model_dimension;
    size_t vocabulary_size;  // of the target
    size_t source_vocabulary_size;
    size_t encoder_layers;
    size_t decoder_layers;
    size_t attention_heads;
    size_t attention_dimension;
    bool separate_embeddings;  // of source and target
    bool tied_output;          // whether the embedding of the target is the output projection, too
    bool output_bias;
    bool scale_embeddings;
    SpecialIds special_ids;
    uint32_t source_eos;
    bool append_source_eos;  // whether the encoder's input ends in eos
    bool ban_special_pieces;
    std::vector<uint32_t> banned_ids;
    // The piece that the decoder reads before the first target piece; none: zeros instead of an embedded piece.
    std::optional<uint32_t> first_decoder_input;
    float normalization_epsilon;

    explicit Architecture(Fields& fields);

    size_t head_size() const { return attention_dimension / attention_heads; }
    // Positions of an encoded source of `pieces` pieces.
    size_t source_positions(size_t pieces) const { return pieces + (append_source_eos ? 1 : 0); }
    // Ids of the pieces that are never generated, ascending. unknown: whether unk may be, unless it is among
    // banned_ids.
    std::vector<uint32_t> never_generated(bool unknown) const;

  private:
    void read_pieces(Fields& fields);
};

enum class NormPlace { post, pre };
enum class DecoderAutoregression { self_attention, ssru, average_attention };
enum class ActivationFunction { relu, swish, gelu, gelu_tanh, gelu_sigmoid };
enum class PositionTable { interleaved, concatenated, concatenated_inclusive };

// Sizes of one layer; pruning makes them differ from layer to layer.
struct LayerSizes {
    size_t heads;        // of self-attention; 0 in a decoder layer without it
    size_t cross_heads;  // 0 in an encoder layer
    size_t feed_forward;
};

struct TransformerArchitecture : Architecture {
    NormPlace norm;
    bool attention_bias;
    ActivationFunction activation;
    PositionTable positions;
    size_t position_offset;  // position of the first piece
    bool embedding_norm;     // whether the sum of embedding and position is normalized
    DecoderAutoregression autoregression;
    size_t average_attention_dimension;  // nodes of average attention's feed-forward network; 0: it has none
    ActivationFunction average_attention_activation;
    bool average_attention_gate;
    std::vector<LayerSizes> encoder;
    std::vector<LayerSizes> decoder;  // layers whose weights are stored
    size_t decoder_rounds;            // how often the stored layers are run: more than once where layers are tied

    // Throws ModelError naming the field that is out of range.
    explicit TransformerArchitecture(Fields fields);

    // Elements of a query in the layer that has most of them.
    size_t widest_attention() const;
    // Elements of a cross-attention query in all stored decoder layers together.
    size_t cross_attention_queries() const;
    // Elements that a layer adds to the decoder's state: key and value of self-attention, a recurrent unit's cell or an
    // average.
    size_t state_elements(const LayerSizes& layer) const {
        return layer.heads == 0 ? model_dimension : 2 * layer.heads * head_size();
    }
    // The same of all decoder layers, each as often as it is run.
    size_t state_elements() const;
};

struct LstmArchitecture : Architecture {
    size_t recurrent_dimension;  // elements of a layer's output

    // Throws ModelError naming the field that is out of range.
    explicit LstmArchitecture(Fields fields);
};

using Description = std::variant<TransformerArchitecture, LstmArchitecture>;

// Throws ModelError naming the field that is missing, unknown or out of range.
Description describe_network(const FieldValues& values);

}  // namespace pocketmt
