// The weights of a Transformer, packed for one instruction set. Names and shapes: see Weights::Weights.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/architecture.h"
#include "model/matrix.h"
#include "model/ranges.h"
#include "model/tensor_source.h"

namespace pocketmt {

struct Norm {
    std::vector<float> gamma;
    std::vector<float> beta;
    NormGrids grids;
};

struct Linear {
    Matrix matrix;
    // Empty where there is none. Where the input lies on one grid for all elements, what its codes leave out is in it:
    // sum_j w_j (offset + code_j scale) = scale sum_j w_j code_j + offset sum_j w_j.
    std::vector<float> bias;

    // out [count, rows], contiguous.
    void multiply(Activations& activations, float* out, bool relu = false) const {
        matrix.multiply(activations, {bias.empty() ? nullptr : bias.data(), relu}, out, matrix.rows());
    }
    void multiply(Activations&& activations, float* out, bool relu = false) const { multiply(activations, out, relu); }
};

struct SelfAttention {
    size_t heads;
    Linear query_key_value;  // [3a, d]
    Linear output;           // [d, a]
    AttentionGrids grids;
    Grid attended;  // [a]: what `output` reads
};

struct CrossAttention {
    size_t heads;
    Linear query;      // [a, d]
    Linear key_value;  // [2a, d]
    Linear output;     // [d, a]
    AttentionGrids grids;
    Grid attended;  // [a]
};

// f = sigmoid(W_f x + b), c = f * c of the position before + (1 - f) * W x; relu(c) is the sub-layer's update [E3].
struct RecurrentUnit {
    Linear input_forget;             // [2d, d]: W, then W_f
    std::vector<float> forget_bias;  // [d]
};

struct FeedForward {
    size_t nodes;
    Linear inner;    // [f, d], then ReLU
    Linear outer;    // [d, f]
    Grid activated;  // [f]: what `outer` reads
    Grid update;     // [d]: what it gives
};

struct EncoderLayer {
    SelfAttention self_attention;
    FeedForward feed_forward;
};

struct DecoderLayer {
    // One of the two.
    std::optional<SelfAttention> self_attention;
    std::optional<RecurrentUnit> recurrent_unit;
    CrossAttention cross_attention;
    FeedForward feed_forward;
    size_t history;  // elements of earlier layers in a row of the cache
    size_t memory;   // elements of queries of earlier layers: where keys and values of the source begin, see Memory
};

struct Weights {
    // Reads every tensor that `architecture` calls for; throws ModelError naming the first that is missing or wrong. Of
    // a network that is no Transformer, the embedding alone. activation_bits: of the ranges that the file holds; 0:
    // none.
    Weights(const Kernels& kernels, const Architecture& architecture, const TensorSource& source,
            unsigned activation_bits);

    Arena arena;

    Matrix embedding;  // [V, d]: look-up and output
    std::vector<EncoderLayer> encoder_layers;
    std::vector<DecoderLayer> decoder_layers;
    // In the order in which they are applied, those of tied layers again and again; in a pre-norm network the stack's
    // final norm is the last.
    std::vector<Norm> encoder_norms;
    std::vector<Norm> decoder_norms;

    std::vector<float> output_bias;  // [V] of the output projection: as Linear::bias, where its input's grid needs one
    Grid position;                   // of a row of the position encoding
    Grid encoder_input;              // [d]: of embedding plus position
    Grid decoder_input;
    Grid decoded;                // [d]: what the output projection reads
    bool attends_codes = false;  // whether keys and values are kept as codes
    // Of an element of a key or value that is kept.
    size_t attended_bytes() const { return attends_codes ? sizeof(int8_t) : sizeof(float); }

  private:
    void load_decoder(class WeightsLoader& loader, const Architecture& architecture);
};

}  // namespace pocketmt
