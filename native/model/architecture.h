// The shape of a network, and the caps that keep its arithmetic on sizes from overflowing.
#pragma once

#include <cstddef>

namespace pocketmt {

enum class NormPlace { post, pre };

struct Architecture {
    size_t encoder_layers = 0;
    size_t decoder_layers = 0;
    size_t model_dimension = 0;
    size_t feed_forward_dimension = 0;
    size_t attention_heads = 0;
    size_t attention_dimension = 0;  // heads * head size
    NormPlace norm = NormPlace::post;
    bool attention_bias = false;
    size_t vocabulary_size = 0;

    size_t head_size() const { return attention_dimension / attention_heads; }
};

// Token ids with a meaning of their own.
enum SpecialToken : unsigned { pad_token = 0, bos_token = 1, eos_token = 2, unk_token = 3, special_tokens = 4 };

// Throws ModelError naming the field that is out of range.
void check(const Architecture& architecture);

}  // namespace pocketmt
