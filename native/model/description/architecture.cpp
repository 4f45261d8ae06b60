#include "model/description/architecture.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/runtime/error.h"

namespace pocketmt {

namespace {

enum class Type { transformer, lstm };

constexpr size_t least_vocabulary = 5;
constexpr double most_epsilon = 0.1;
constexpr size_t most_position_offset = 1024;

enum class FirstInput { bos, eos, pad, zero };

uint32_t piece(Fields& fields, const char* name, size_t vocabulary_size) {
    return static_cast<uint32_t>(fields.size(name, 0, vocabulary_size - 1));
}

std::optional<uint32_t> optional_piece(Fields& fields, const char* name, size_t vocabulary_size) {
    if (!fields.has(name)) return std::nullopt;
    return piece(fields, name, vocabulary_size);
}

ActivationFunction activation_function(Fields& fields, const char* name) {
    return fields.choice<ActivationFunction>(name, {{"relu", ActivationFunction::relu},
                                                    {"swish", ActivationFunction::swish},
                                                    {"gelu", ActivationFunction::gelu},
                                                    {"gelu_tanh", ActivationFunction::gelu_tanh},
                                                    {"gelu_sigmoid", ActivationFunction::gelu_sigmoid}});
}

// Throws where an LSTM is described with an option that it has not.
void refuse(bool given, const char* option) {
    if (given) throw ModelError(std::string("architecture: an LSTM of this engine cannot have ") + option);
}

// Sizes of `layers` layers: those of a list, or the same everywhere if it is empty.
std::vector<size_t> sizes_of_layers(Fields& fields, const std::string& name, size_t unpruned, size_t layers) {
    std::vector<size_t> sizes = fields.sizes(name, 1, unpruned);
    if (sizes.empty()) return std::vector<size_t>(layers, unpruned);
    if (sizes.size() != layers) {
        throw ModelError("architecture: " + name + " has " + std::to_string(sizes.size()) + " sizes, expected " +
                         std::to_string(layers));
    }
    return sizes;
}

// Throws where the decoder keeps too many elements of each position of the source or of the target.
void check_kept(const char* side, size_t elements) {
    if (elements > max_position_elements) {
        throw ModelError("architecture: decoder layers keep " + std::to_string(elements) + " numbers of each " + side +
                         " position, expected at most " + std::to_string(max_position_elements));
    }
}

}  // namespace

Architecture::Architecture(Fields& fields)
    : model_dimension(fields.size("model_dimension", 1, max_dimension)),
      vocabulary_size(fields.size("vocabulary_size", least_vocabulary, max_vocabulary)),
      source_vocabulary_size(fields.size("source_vocabulary_size", 0, max_vocabulary)),
      encoder_layers(fields.size("encoder_layers", 1, max_layers)),
      decoder_layers(fields.size("decoder_layers", 1, max_layers)),
      attention_heads(fields.size("attention_heads", 1, max_dimension)),
      attention_dimension(fields.size("attention_dimension", 4, max_dimension)),
      separate_embeddings(fields.choice<bool>("embeddings", {{"shared", false}, {"separate", true}})),
      tied_output(fields.choice<bool>("output_projection", {{"tied", true}, {"untied", false}})),
      output_bias(fields.flag("output_bias")),
      scale_embeddings(fields.flag("scale_embeddings")),
      append_source_eos(fields.flag("append_source_eos")),
      ban_special_pieces(fields.flag("ban_special_pieces")),
      normalization_epsilon(static_cast<float>(fields.number("normalization_epsilon", most_epsilon))) {
    fields.choice<bool>("vocabularies", {{"shared", false}, {"separate", true}});
    if (source_vocabulary_size != 0 && !separate_embeddings)
        throw ModelError("architecture: source_vocabulary_size is given, but embeddings are \"shared\"");
    if (source_vocabulary_size == 0) source_vocabulary_size = vocabulary_size;
    read_pieces(fields);
    if (attention_dimension % (4 * attention_heads) != 0) {
        throw ModelError("architecture: attention_dimension is " + std::to_string(attention_dimension) +
                         ", it must be a multiple of 4 * attention_heads, " + std::to_string(4 * attention_heads));
    }
}

void Architecture::read_pieces(Fields& fields) {
    special_ids = {optional_piece(fields, "pad_id", vocabulary_size), optional_piece(fields, "bos_id", vocabulary_size),
                   piece(fields, "eos_id", vocabulary_size), piece(fields, "unk_id", vocabulary_size)};
    source_eos = optional_piece(fields, "source_eos_id", source_vocabulary_size).value_or(special_ids.eos);
    if (source_eos >= source_vocabulary_size)
        throw ModelError("architecture: source_eos_id is not given, and eos_id is not in the source's vocabulary");
    for (const char* unused : {"source_pad_id", "source_unk_id"})
        optional_piece(fields, unused, source_vocabulary_size);
    for (const size_t banned : fields.sizes("banned_ids", 0, vocabulary_size - 1))
        banned_ids.push_back(static_cast<uint32_t>(banned));
    const std::vector<uint32_t> never = never_generated(false);
    if (std::ranges::binary_search(never, special_ids.eos))
        throw ModelError("architecture: eos_id is a piece that is never generated, so that no translation would end");
    if (never.size() + 1 >= vocabulary_size)
        throw ModelError("architecture: banned_ids leave no piece that could be generated");
    switch (fields.choice<FirstInput>(
        "first_decoder_input",
        {{"bos", FirstInput::bos}, {"eos", FirstInput::eos}, {"pad", FirstInput::pad}, {"zero", FirstInput::zero}})) {
        case FirstInput::zero:
            return;
        case FirstInput::eos:
            first_decoder_input = special_ids.eos;
            break;
        case FirstInput::bos:
            first_decoder_input = special_ids.bos;
            break;
        case FirstInput::pad:
            first_decoder_input = special_ids.pad;
            break;
    }
    if (!first_decoder_input) throw ModelError("architecture: first_decoder_input names a piece whose id is missing");
}

std::vector<uint32_t> Architecture::never_generated(bool unknown) const {
    std::vector<uint32_t> ids = banned_ids;
    if (ban_special_pieces) {
        for (const std::optional<uint32_t>& id : {special_ids.pad, special_ids.bos}) {
            if (id) ids.push_back(*id);
        }
        if (!unknown) ids.push_back(special_ids.unk);
    }
    std::ranges::sort(ids);
    const auto repeated = std::ranges::unique(ids);
    ids.erase(repeated.begin(), repeated.end());
    return ids;
}

TransformerArchitecture::TransformerArchitecture(Fields fields)
    : Architecture(fields),
      norm(fields.choice<NormPlace>("norm", {{"post", NormPlace::post}, {"pre", NormPlace::pre}})),
      attention_bias(fields.flag("attention_bias")),
      activation(activation_function(fields, "activation")),
      positions(fields.choice<PositionTable>("positions",
                                             {{"interleaved", PositionTable::interleaved},
                                              {"concatenated", PositionTable::concatenated},
                                              {"concatenated_inclusive", PositionTable::concatenated_inclusive}})),
      position_offset(fields.size("position_offset", 0, most_position_offset)),
      embedding_norm(fields.flag("embedding_norm")),
      autoregression(fields.choice<DecoderAutoregression>(
          "decoder_autoregression", {{"self_attention", DecoderAutoregression::self_attention},
                                     {"ssru", DecoderAutoregression::ssru},
                                     {"average_attention", DecoderAutoregression::average_attention}})),
      average_attention_dimension(fields.size("average_attention_dimension", 0, max_dimension)),
      average_attention_activation(activation_function(fields, "average_attention_activation")),
      average_attention_gate(fields.flag("average_attention_gate")) {
    if (model_dimension % 2 != 0) throw ModelError("architecture: model_dimension must be even");
    if (positions == PositionTable::concatenated_inclusive && model_dimension < 4)
        throw ModelError("architecture: model_dimension is 2, positions \"concatenated_inclusive\" need 4");
    const bool averages = average_attention_dimension != 0 || !average_attention_gate ||
                          average_attention_activation != ActivationFunction::relu;
    if (averages && autoregression != DecoderAutoregression::average_attention) {
        throw ModelError(
            "architecture: average_attention_dimension, _activation or _gate is given, but decoder_autoregression is "
            "not \"average_attention\"");
    }
    const size_t nodes = fields.size("feed_forward_dimension", 1, max_dimension);
    const size_t stored = fields.flag("tied_decoder_layers") ? 1 : decoder_layers;
    decoder_rounds = decoder_layers / stored;
    const auto sizes = [&](const char* name, size_t unpruned, size_t layers) {
        return sizes_of_layers(fields, name, unpruned, layers);
    };
    const auto encoder_heads = sizes("encoder_heads", attention_heads, encoder_layers);
    const auto encoder_nodes = sizes("encoder_feed_forward", nodes, encoder_layers);
    for (size_t i = 0; i < encoder_layers; ++i) encoder.push_back({encoder_heads[i], 0, encoder_nodes[i]});
    const auto decoder_heads = sizes("decoder_heads", attention_heads, stored);
    const auto cross_heads = sizes("decoder_cross_heads", attention_heads, stored);
    const auto decoder_nodes = sizes("decoder_feed_forward", nodes, stored);
    const bool attends = autoregression == DecoderAutoregression::self_attention;
    for (size_t i = 0; i < stored; ++i)
        decoder.push_back({attends ? decoder_heads[i] : 0, cross_heads[i], decoder_nodes[i]});
    check_kept("target", state_elements());
    check_kept("source", 2 * cross_attention_queries());
    fields.finish();
}

size_t TransformerArchitecture::widest_attention() const {
    size_t heads = 0;
    for (const std::vector<LayerSizes>* stack : {&encoder, &decoder}) {
        for (const LayerSizes& layer : *stack) heads = std::max({heads, layer.heads, layer.cross_heads});
    }
    return heads * head_size();
}

size_t TransformerArchitecture::cross_attention_queries() const {
    size_t heads = 0;
    for (const LayerSizes& layer : decoder) heads += layer.cross_heads;
    return heads * head_size();
}

size_t TransformerArchitecture::state_elements() const {
    size_t elements = 0;
    for (const LayerSizes& layer : decoder) elements += state_elements(layer);
    return decoder_rounds * elements;
}

LstmArchitecture::LstmArchitecture(Fields fields)
    : Architecture(fields), recurrent_dimension(fields.size("recurrent_dimension", 2, max_dimension)) {
    if (recurrent_dimension % 2 != 0) throw ModelError("architecture: recurrent_dimension must be even");
    refuse(separate_embeddings, "embeddings \"separate\"");
    refuse(!tied_output, "output_projection \"untied\"");
    refuse(output_bias, "an output_bias");
    refuse(!scale_embeddings, "scale_embeddings false");
    refuse(!first_decoder_input, "first_decoder_input \"zero\"");
    check_kept("target", 2 * decoder_layers * recurrent_dimension);
    fields.finish();
}

Description describe_network(const FieldValues& values) {
    Fields fields(values);
    switch (fields.choice<Type>("type", {{"transformer", Type::transformer}, {"lstm", Type::lstm}})) {
        case Type::transformer:
            break;
        case Type::lstm:
            return LstmArchitecture(std::move(fields));
    }
    return TransformerArchitecture(std::move(fields));
}

}  // namespace pocketmt
