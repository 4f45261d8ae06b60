// The shape of a network, and the caps that keep its arithmetic on sizes from overflowing.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace pocketmt {

enum class NormPlace { post, pre };

// Of one layer: after pruning they differ.
struct LayerSizes {
    size_t heads;        // of self-attention; of a decoder layer with a recurrent unit in its place: 0
    size_t cross_heads;  // of an encoder layer: 0
    size_t feed_forward;
};

// Of a deep LSTM.
struct LstmSizes {
    size_t encoder_layers;
    size_t decoder_layers;
    size_t dimension;  // of a layer's output; half of it is read backwards in the first encoder layer
    size_t heads;      // of the decoder's attention
};

struct Architecture {
    std::vector<LayerSizes> encoder;
    std::vector<LayerSizes> decoder;  // the layers that have weights of their own
    size_t decoder_rounds = 1;        // how often they are run through: more than once where layers are tied
    size_t model_dimension = 0;
    size_t head_size = 0;
    NormPlace norm = NormPlace::post;
    bool attention_bias = false;
    size_t vocabulary_size = 0;
    std::optional<LstmSizes> lstm;  // in the place of the Transformer's layers, its norms and biases

    // Elements of queries of the layer that has most of them.
    size_t widest_attention() const;
    // The same of all decoder layers that have weights of their own: of keys and values of the source, too.
    size_t queries() const;
    // Elements that a position leaves to later ones in each decoder layer's self-attention (key and value) or recurrent
    // unit (its cell).
    size_t history(const LayerSizes& layer) const {
        return layer.heads == 0 ? model_dimension : 2 * layer.heads * head_size;
    }
    // Of all decoder layers, each as often as it is run; a layer of an LSTM leaves hidden state and cell.
    size_t history() const;
    // Whether a decoder layer reads what all earlier positions left; recurrent ones read what the last one did.
    bool attends_history() const;
};

// Token ids with a meaning of their own.
enum SpecialToken : unsigned { pad_token = 0, bos_token = 1, eos_token = 2, unk_token = 3, special_tokens = 4 };

// Throws ModelError naming the field that is out of range.
void check(const Architecture& architecture);

}  // namespace pocketmt
