#include "model/description/architecture.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/runtime/error.h"

namespace pocketmt {

namespace {

enum class Type { transformer, lstm };

uint32_t id(Fields& fields, const char* name, uint64_t known) {
    return static_cast<uint32_t>(fields.constant(name, known));
}

SpecialIds special_ids(Fields& fields) {
    return {id(fields, "pad_id", 0), id(fields, "bos_id", 1), id(fields, "eos_id", 2), id(fields, "unk_id", 3)};
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

}  // namespace

Architecture::Architecture(Fields& fields)
    : model_dimension(fields.size("model_dimension", 1, max_dimension)),
      vocabulary_size(fields.size("vocabulary_size", SpecialIds::count + 1, max_vocabulary)),
      encoder_layers(fields.size("encoder_layers", 1, max_layers)),
      decoder_layers(fields.size("decoder_layers", 1, max_layers)),
      attention_heads(fields.size("attention_heads", 1, max_dimension)),
      attention_dimension(fields.size("attention_dimension", 4, max_dimension)),
      special_ids(pocketmt::special_ids(fields)),
      first_decoder_input(fields.choice<uint32_t>("first_decoder_input", {{"bos", special_ids.bos}})),
      normalization_epsilon(static_cast<float>(fields.constant("normalization_epsilon", 1e-5))) {
    fields.constant<std::string>("embeddings", "shared");
    fields.constant<std::string>("vocabularies", "shared");
    fields.constant("output_bias", false);
    if (attention_dimension % (4 * attention_heads) != 0) {
        throw ModelError("architecture: attention_dimension is " + std::to_string(attention_dimension) +
                         ", it must be a multiple of 4 * attention_heads, " + std::to_string(4 * attention_heads));
    }
}

TransformerArchitecture::TransformerArchitecture(Fields fields)
    : Architecture(fields),
      norm(fields.choice<NormPlace>("norm", {{"post", NormPlace::post}, {"pre", NormPlace::pre}})),
      attention_bias(fields.flag("attention_bias")),
      activation(fields.choice<Activation>("activation", {{"relu", Activation::relu}})),
      positions(fields.choice<PositionTable>("positions", {{"interleaved", PositionTable::interleaved}})) {
    if (model_dimension % 2 != 0) throw ModelError("architecture: model_dimension must be even");
    const size_t nodes = fields.size("feed_forward_dimension", 1, max_dimension);
    const size_t stored = fields.flag("tied_decoder_layers") ? 1 : decoder_layers;
    decoder_rounds = decoder_layers / stored;
    const auto autoregression = fields.choice<DecoderAutoregression>(
        "decoder_autoregression",
        {{"self_attention", DecoderAutoregression::self_attention}, {"ssru", DecoderAutoregression::ssru}});
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
