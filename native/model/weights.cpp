#include "model/weights.h"

#include <utility>

#include "model/vectors.h"

namespace pocketmt {

namespace {

class Loader {
  public:
    Loader(const Kernels& kernels, Arena& arena, const Architecture& architecture, const TensorSource& source)
        : kernels_(kernels), arena_(arena), architecture_(architecture), source_(source), vectors_(kernels, source) {}

    Norm norm(const std::string& name) {
        size_t columns = architecture_.model_dimension;
        return {vectors_.values(name + ".weight", columns), vectors_.values(name + ".bias", columns)};
    }

    SelfAttention self_attention(const std::string& name) {
        size_t d = architecture_.model_dimension, a = architecture_.attention_dimension;
        bool bias = architecture_.attention_bias;
        return {linear(name + ".query_key_value", 3 * a, d, bias), linear(name + ".output", d, a, bias)};
    }

    CrossAttention cross_attention(const std::string& name) {
        size_t d = architecture_.model_dimension, a = architecture_.attention_dimension;
        bool bias = architecture_.attention_bias;
        return {linear(name + ".query", a, d, bias), linear(name + ".key_value", 2 * a, d, bias),
                linear(name + ".output", d, a, bias)};
    }

    FeedForward feed_forward(const std::string& name) {
        size_t d = architecture_.model_dimension, f = architecture_.feed_forward_dimension;
        return {linear(name + ".inner", f, d, true), linear(name + ".outer", d, f, true)};
    }

  private:
    Linear linear(const std::string& name, size_t rows, size_t columns, bool bias) {
        return {Matrix(kernels_, arena_, source_, name + ".weight", rows, columns),
                bias ? vectors_.values(name + ".bias", rows) : std::vector<float>()};
    }

    const Kernels& kernels_;
    Arena& arena_;
    const Architecture& architecture_;
    const TensorSource& source_;
    Vectors vectors_;
};

}  // namespace

Weights::Weights(const Kernels& kernels, const Architecture& architecture, const TensorSource& source)
    : embedding(kernels, arena, source, "embedding.weight", architecture.vocabulary_size,
                architecture.model_dimension) {
    Loader loader(kernels, arena, architecture, source);
    encoder_layers.reserve(architecture.encoder_layers);
    for (size_t i = 0; i < architecture.encoder_layers; ++i) {
        std::string name = "encoder.layers." + std::to_string(i);
        encoder_layers.push_back(
            {loader.self_attention(name + ".self_attention"), loader.feed_forward(name + ".feed_forward")});
        encoder_norms.push_back(loader.norm(name + ".self_attention_norm"));
        encoder_norms.push_back(loader.norm(name + ".feed_forward_norm"));
    }
    decoder_layers.reserve(architecture.decoder_layers);
    for (size_t i = 0; i < architecture.decoder_layers; ++i) {
        std::string name = "decoder.layers." + std::to_string(i);
        decoder_layers.push_back({loader.self_attention(name + ".self_attention"),
                                  loader.cross_attention(name + ".cross_attention"),
                                  loader.feed_forward(name + ".feed_forward")});
        decoder_norms.push_back(loader.norm(name + ".self_attention_norm"));
        decoder_norms.push_back(loader.norm(name + ".cross_attention_norm"));
        decoder_norms.push_back(loader.norm(name + ".feed_forward_norm"));
    }
    if (architecture.norm == NormPlace::pre) {
        encoder_norms.push_back(loader.norm("encoder.norm"));
        decoder_norms.push_back(loader.norm("decoder.norm"));
    }
}

}  // namespace pocketmt
