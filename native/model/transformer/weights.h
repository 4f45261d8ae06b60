// The weights of a Transformer, packed for one instruction set. Names and shapes of tensors:
// docs/reference/model-file.md.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/kernels.h"
#include "model/description/architecture.h"
#include "model/layers/cross_attention.h"
#include "model/runtime/arena.h"
#include "model/weights/linear.h"
#include "model/weights/tensor_source.h"

namespace pocketmt {

struct SelfAttention {
    size_t heads;
    Linear query_key_value;  // [3a, d]
    Linear output;           // [d, a]
    AttentionQuantization quantization;
    QuantizationParameters attended;  // [a]: input of `output`
};

// f = sigmoid(W_f x + b), c = f * (c of the previous position) + (1 - f) * W x; the sub-layer's update is relu(c) (Kim
// et al. 2019, section 3.1).
struct RecurrentUnit {
    Linear input_forget;             // [2d, d]: W, then W_f
    std::vector<float> forget_bias;  // [d]
};

// y is the mean of the inputs so far, normalized in a pre-norm network, then outer(activation(inner(y))); the
// sub-layer's update is sigmoid(input_gate(x)) * x + sigmoid(average_gate(y)) * y, where x is the input without
// normalization (Zhang et al. 2018, section 3).
struct AverageAttention {
    struct Layers {
        Linear inner;  // [n, d], then the activation
        Linear outer;  // [d, n]
    };
    struct Gates {
        Linear input;    // [d, d]
        Linear average;  // [d, d]
    };
    std::optional<Layers> layers;  // none: y is the mean
    std::optional<Gates> gates;    // none: the update is y
};

struct FeedForward {
    size_t nodes;
    Linear inner;                      // [f, d], then the activation
    Linear outer;                      // [d, f]
    QuantizationParameters activated;  // [f]: input of `outer`
    QuantizationParameters update;     // [d]: output of `outer`
};

struct EncoderLayer {
    SelfAttention self_attention;
    FeedForward feed_forward;
};

struct DecoderLayer {
    // One of the three.
    std::optional<SelfAttention> self_attention;
    std::optional<RecurrentUnit> recurrent_unit;
    std::optional<AverageAttention> average_attention;
    CrossAttention cross_attention;
    FeedForward feed_forward;
    size_t earlier_state;    // elements of earlier layers in a decoder state
    size_t earlier_queries;  // elements of a query in earlier layers: as in CrossAttentionCache
};

struct TransformerWeights {
    // Reads every tensor of the description; throws ModelError naming the first that is missing or wrong.
    // activation_bits: of the ranges in the file; 0: none.
    TransformerWeights(const Kernels& kernels, Arena& arena, const TransformerArchitecture& architecture,
                       const TensorSource& source, unsigned activation_bits);

    std::vector<EncoderLayer> encoder_layers;
    std::vector<DecoderLayer> decoder_layers;
    // In the order in which they are applied, repeated for tied layers. In a pre-norm network the last one of a stack
    // is its final norm.
    std::vector<Norm> encoder_norms;
    std::vector<Norm> decoder_norms;

    QuantizationParameters position;       // of a row of the position encoding
    QuantizationParameters encoder_input;  // [d]: of embedding plus position
    QuantizationParameters decoder_input;
    QuantizationParameters decoded;  // [d]: input of the output projection
    bool attends_to_codes = false;   // whether keys and values are kept as codes

  private:
    void load_encoder(class TransformerLoader& loader, const TransformerArchitecture& architecture);
    void load_decoder(class TransformerLoader& loader, const TransformerArchitecture& architecture);
};

}  // namespace pocketmt
