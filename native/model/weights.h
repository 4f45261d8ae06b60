// The weights of a Transformer, packed for one instruction set. Names and shapes: see Weights::Weights.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/architecture.h"
#include "model/matrix.h"
#include "model/tensor_source.h"

namespace pocketmt {

struct Norm {
    std::vector<float> gamma;
    std::vector<float> beta;
};

struct Linear {
    Matrix matrix;
    std::vector<float> bias;  // empty where there is none

    // out [count, rows], contiguous.
    void multiply(Activations& activations, float* out, bool relu = false) const {
        matrix.multiply(activations, {bias.empty() ? nullptr : bias.data(), relu}, out, matrix.rows());
    }
    void multiply(Activations&& activations, float* out, bool relu = false) const { multiply(activations, out, relu); }
};

struct SelfAttention {
    Linear query_key_value;  // [3a, d]
    Linear output;           // [d, a]
};

struct CrossAttention {
    Linear query;      // [a, d]
    Linear key_value;  // [2a, d]
    Linear output;     // [d, a]
};

struct FeedForward {
    Linear inner;  // [f, d], then ReLU
    Linear outer;  // [d, f]
};

struct EncoderLayer {
    SelfAttention self_attention;
    FeedForward feed_forward;
};

struct DecoderLayer {
    SelfAttention self_attention;
    CrossAttention cross_attention;
    FeedForward feed_forward;
};

struct Weights {
    // Reads every tensor that `architecture` calls for; throws ModelError naming the first that is missing or wrong.
    Weights(const Kernels& kernels, const Architecture& architecture, const TensorSource& source);

    Arena arena;

    Matrix embedding;  // [V, d]: look-up and output
    std::vector<EncoderLayer> encoder_layers;
    std::vector<DecoderLayer> decoder_layers;
    // In the order in which they are applied; in a pre-norm network the stack's final norm is the last.
    std::vector<Norm> encoder_norms;
    std::vector<Norm> decoder_norms;
};

}  // namespace pocketmt
