#include "model/lstm/weights.h"

#include <string>
#include <utility>

#include "model/weights/vectors.h"

namespace pocketmt {

namespace {

class LstmLoader {
  public:
    LstmLoader(const Kernels& kernels, Arena& arena, const TensorSource& source)
        : kernels_(kernels), arena_(arena), source_(source), vectors_(kernels, source) {}

    Linear linear(const std::string& name, size_t rows, size_t columns, bool bias) {
        Matrix matrix(kernels_, arena_, source_, name + ".weight", rows, columns);
        return {std::move(matrix), bias ? vectors_.values(name + ".bias", rows) : std::vector<float>()};
    }

    LstmUnit unit(const std::string& name, size_t size, size_t inputs) {
        return {size, linear(name + ".input", 4 * size, inputs, true),
                linear(name + ".recurrent", 4 * size, size, false)};
    }

    Norm norm(const std::string& name, size_t size) {
        return {vectors_.values(name + ".weight", size), vectors_.values(name + ".bias", size), {}};
    }

    RecurrentLayer layer(const std::string& name, size_t size, size_t inputs) {
        return {unit(name + ".lstm", size, inputs), norm(name + ".lstm_norm", size)};
    }

    CrossAttention cross_attention(const std::string& name, size_t heads, size_t a, size_t size) {
        return {heads,
                linear(name + ".query", a, size, false),
                linear(name + ".key_value", 2 * a, size, false),
                linear(name + ".output", size, a, false),
                {},
                {}};
    }

  private:
    const Kernels& kernels_;
    Arena& arena_;
    const TensorSource& source_;
    Vectors vectors_;
};

std::string layer_name(const char* stack, size_t layer) {
    return std::string(stack) + ".layers." + std::to_string(layer);
}

}  // namespace

LstmWeights load_lstm(const Kernels& kernels, Arena& arena, const LstmArchitecture& architecture,
                      const TensorSource& source) {
    const size_t d = architecture.model_dimension, h = architecture.recurrent_dimension;
    LstmLoader loader(kernels, arena, source);
    std::vector<LstmUnit> directions;
    for (const char* direction : {".lstm.left_to_right", ".lstm.right_to_left"})
        directions.push_back(loader.unit(layer_name("encoder", 0) + direction, h / 2, d));
    Norm directions_norm = loader.norm(layer_name("encoder", 0) + ".lstm_norm", h);
    std::vector<RecurrentLayer> encoder, decoder;
    for (size_t layer = 1; layer < architecture.encoder_layers; ++layer)
        encoder.push_back(loader.layer(layer_name("encoder", layer), h, h));
    for (size_t layer = 0; layer < architecture.decoder_layers; ++layer)
        decoder.push_back(loader.layer(layer_name("decoder", layer), h, layer == 0 ? d : h));
    const std::string name = layer_name("decoder", 0) + ".cross_attention";
    CrossAttention attention =
        loader.cross_attention(name, architecture.attention_heads, architecture.attention_dimension, h);
    Norm attention_norm = loader.norm(name + "_norm", h);
    Linear readout = loader.linear("decoder.readout", d, h, true);
    return {std::move(directions), std::move(directions_norm), std::move(encoder), std::move(decoder),
            std::move(attention),  std::move(attention_norm),  std::move(readout)};
}

}  // namespace pocketmt
