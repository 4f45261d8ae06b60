#include "model/architecture.h"

#include <algorithm>
#include <string>

#include "model/error.h"

namespace pocketmt {

namespace {

constexpr size_t max_layers = 256;
constexpr size_t max_dimension = 65536;  // inputs of a matrix: 127 * 127 * 65536 still fits a 32-bit sum
constexpr size_t max_vocabulary = size_t{1} << 24;

void check_range(const char* field, size_t value, size_t least, size_t most) {
    if (value < least || value > most) {
        throw ModelError(std::string("architecture: ") + field + " is " + std::to_string(value) + ", it must be " +
                         std::to_string(least) + " to " + std::to_string(most));
    }
}

void check_lstm(const LstmSizes& sizes) {
    check_range("encoder_layers", sizes.encoder_layers, 1, max_layers);
    check_range("decoder_layers", sizes.decoder_layers, 1, max_layers);
    check_range("recurrent_dimension", sizes.dimension, 2, max_dimension);
    if (sizes.dimension % 2 != 0) throw ModelError("architecture: recurrent_dimension must be even");
    check_range("attention_heads", sizes.heads, 1, max_dimension);
}

void check_transformer(const Architecture& architecture) {
    check_range("encoder_layers", architecture.encoder.size(), 1, max_layers);
    check_range("decoder_layers", architecture.decoder.size(), 1, max_layers);
    check_range("decoder_rounds", architecture.decoder_rounds, 1, max_layers);
    for (const LayerSizes& layer : architecture.encoder) check_range("encoder heads", layer.heads, 1, max_dimension);
    for (const LayerSizes& layer : architecture.decoder) {
        check_range("decoder heads", layer.heads, 0, max_dimension);
        check_range("decoder cross_heads", layer.cross_heads, 1, max_dimension);
        if ((layer.heads == 0) != (architecture.decoder.front().heads == 0))
            throw ModelError("architecture: all decoder layers have self-attention, or all have a recurrent unit");
    }
    for (const std::vector<LayerSizes>* stack : {&architecture.encoder, &architecture.decoder}) {
        for (const LayerSizes& layer : *stack) check_range("feed_forward", layer.feed_forward, 1, max_dimension);
    }
}

}  // namespace

size_t Architecture::widest_attention() const {
    if (lstm) return lstm->heads * head_size;
    size_t heads = 0;
    for (const std::vector<LayerSizes>* stack : {&encoder, &decoder}) {
        for (const LayerSizes& layer : *stack) heads = std::max({heads, layer.heads, layer.cross_heads});
    }
    return heads * head_size;
}

size_t Architecture::queries() const {
    if (lstm) return lstm->heads * head_size;
    size_t heads = 0;
    for (const LayerSizes& layer : decoder) heads += layer.cross_heads;
    return heads * head_size;
}

size_t Architecture::history() const {
    if (lstm) return 2 * lstm->dimension * lstm->decoder_layers;
    size_t elements = 0;
    for (const LayerSizes& layer : decoder) elements += history(layer);
    return decoder_rounds * elements;
}

bool Architecture::attends_history() const {
    auto attends = [](const LayerSizes& layer) { return layer.heads > 0; };
    return !lstm && std::any_of(decoder.begin(), decoder.end(), attends);
}

void check(const Architecture& architecture) {
    check_range("model_dimension", architecture.model_dimension, 1, max_dimension);
    check_range("head_size", architecture.head_size, 1, max_dimension);
    check_range("vocabulary_size", architecture.vocabulary_size, special_tokens + 1, max_vocabulary);
    if (architecture.head_size % 4 != 0) {
        throw ModelError("architecture: head_size " + std::to_string(architecture.head_size) +
                         " must be a multiple of 4");
    }
    if (architecture.lstm) {
        check_lstm(*architecture.lstm);
    } else {
        check_transformer(architecture);
    }
    check_range("attention dimension", architecture.widest_attention(), 1, max_dimension);
}

}  // namespace pocketmt
