#include "model/architecture.h"

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

}  // namespace

void check(const Architecture& architecture) {
    check_range("encoder_layers", architecture.encoder_layers, 1, max_layers);
    check_range("decoder_layers", architecture.decoder_layers, 1, max_layers);
    check_range("model_dimension", architecture.model_dimension, 1, max_dimension);
    check_range("feed_forward_dimension", architecture.feed_forward_dimension, 1, max_dimension);
    check_range("attention_heads", architecture.attention_heads, 1, max_dimension);
    check_range("attention_dimension", architecture.attention_dimension, 1, max_dimension);
    check_range("vocabulary_size", architecture.vocabulary_size, special_tokens + 1, max_vocabulary);
    if (architecture.attention_dimension % (4 * architecture.attention_heads) != 0) {
        throw ModelError("architecture: attention_dimension " + std::to_string(architecture.attention_dimension) +
                         " must be attention_heads (" + std::to_string(architecture.attention_heads) +
                         ") times a multiple of 4");
    }
}

}  // namespace pocketmt
