#include "model/weights.h"

#include <utility>

#include "model/error.h"
#include "model/vectors.h"

namespace pocketmt {

namespace {

class Loader {
  public:
    Loader(const Kernels& kernels, Arena& arena, Ranges& ranges, const Architecture& architecture,
           const TensorSource& source)
        : kernels_(kernels),
          arena_(arena),
          ranges_(ranges),
          architecture_(architecture),
          source_(source),
          vectors_(kernels, source) {}

    Norm norm(const std::string& name) {
        size_t d = architecture_.model_dimension;
        return {vectors_.values(name + ".weight", d),
                vectors_.values(name + ".bias", d),
                {ranges_.next("layer_norm_numerator", d), ranges_.next("layer_norm_denominator", 1),
                 ranges_.next("layer_norm_quotient", d), ranges_.next("layer_norm_output", d)}};
    }

    SelfAttention self_attention(const std::string& name, const Grid& input) {
        size_t d = architecture_.model_dimension, a = architecture_.attention_dimension;
        bool bias = architecture_.attention_bias;
        AttentionGrids grids = attention_grids(name);
        Grid attended = ranges_.next("attention_output", a);
        return {linear(name + ".query_key_value", 3 * a, d, bias, input),
                linear(name + ".output", d, a, bias, attended), grids, attended};
    }

    CrossAttention cross_attention(const std::string& name, const Grid& input, const Grid& encoded) {
        size_t d = architecture_.model_dimension, a = architecture_.attention_dimension;
        bool bias = architecture_.attention_bias;
        AttentionGrids grids = attention_grids(name);
        Grid attended = ranges_.next("attention_output", a);
        return {linear(name + ".query", a, d, bias, input), linear(name + ".key_value", 2 * a, d, bias, encoded),
                linear(name + ".output", d, a, bias, attended), grids, attended};
    }

    FeedForward feed_forward(const std::string& name, const Grid& input) {
        size_t d = architecture_.model_dimension, f = architecture_.feed_forward_dimension;
        Grid activated = ranges_.next("relu_output", 1);
        return {linear(name + ".inner", f, d, true, input), linear(name + ".outer", d, f, true, activated), activated,
                ranges_.next("feed_forward_output", d)};
    }

    // The grid of what sub-layer `index` of a stack reads: of the norm before it.
    const Grid& input(const std::vector<Norm>& norms, const Grid& embedded, size_t index) const {
        if (architecture_.norm == NormPlace::pre) return norms[index].grids.output;
        return index == 0 ? embedded : norms[index - 1].grids.output;
    }

    // `bias` with what the codes of an input on `grid` leave out.
    static std::vector<float> add_offset(const Matrix& matrix, const Grid& grid, std::vector<float> bias) {
        if (!grid.uniform() || !matrix.quantized()) return bias;
        bias.resize(matrix.rows());
        std::vector<double> sums = matrix.row_sums();
        for (size_t row = 0; row < sums.size(); ++row)
            bias[row] += static_cast<float>(static_cast<double>(grid.offsets[0]) * sums[row]);
        return bias;
    }

  private:
    Linear linear(const std::string& name, size_t rows, size_t columns, bool bias, const Grid& input) {
        Matrix matrix(kernels_, arena_, source_, name + ".weight", rows, columns);
        std::vector<float> own = bias ? vectors_.values(name + ".bias", rows) : std::vector<float>();
        std::vector<float> complete = add_offset(matrix, input, std::move(own));
        return {std::move(matrix), std::move(complete)};
    }

    AttentionGrids attention_grids(const std::string& name) {
        size_t heads = architecture_.attention_heads, head_size = architecture_.head_size();
        AttentionGrids grids;
        for (Grid* grid : {&grids.query, &grids.key, &grids.value})
            *grid = ranges_.next("query_key_value", head_size, heads);
        grids.numerator = ranges_.next("softmax_numerator", 1);
        grids.weight = ranges_.next("softmax_output", 1);
        if (!grids.query.present() && (grids.numerator.present() || grids.weight.present()))
            throw ModelError("attention " + name + ": a quantized softmax needs ranges of query, key and value");
        return grids;
    }

    const Kernels& kernels_;
    Arena& arena_;
    Ranges& ranges_;
    const Architecture& architecture_;
    const TensorSource& source_;
    Vectors vectors_;
};

}  // namespace

Weights::Weights(const Kernels& kernels, const Architecture& architecture, const TensorSource& source,
                 unsigned activation_bits)
    : embedding(kernels, arena, source, "embedding.weight", architecture.vocabulary_size,
                architecture.model_dimension) {
    Ranges ranges(source, arena, activation_bits);
    Loader loader(kernels, arena, ranges, architecture, source);
    position = ranges.next("position", 1);
    encoder_input = ranges.next("embedding_sum", architecture.model_dimension);
    decoder_input = ranges.next("embedding_sum", architecture.model_dimension);
    bool pre_norm = architecture.norm == NormPlace::pre;
    encoder_layers.reserve(architecture.encoder_layers);
    for (size_t i = 0; i < architecture.encoder_layers; ++i) {
        std::string name = "encoder.layers." + std::to_string(i);
        size_t index = encoder_norms.size();
        for (const char* norm : {".self_attention_norm", ".feed_forward_norm"})
            encoder_norms.push_back(loader.norm(name + norm));
        auto input = [&](size_t sublayer) { return loader.input(encoder_norms, encoder_input, index + sublayer); };
        encoder_layers.push_back({loader.self_attention(name + ".self_attention", input(0)),
                                  loader.feed_forward(name + ".feed_forward", input(1))});
    }
    if (pre_norm) encoder_norms.push_back(loader.norm("encoder.norm"));
    Grid encoded = encoder_norms.back().grids.output;
    decoder_layers.reserve(architecture.decoder_layers);
    for (size_t i = 0; i < architecture.decoder_layers; ++i) {
        std::string name = "decoder.layers." + std::to_string(i);
        size_t index = decoder_norms.size();
        for (const char* norm : {".self_attention_norm", ".cross_attention_norm", ".feed_forward_norm"})
            decoder_norms.push_back(loader.norm(name + norm));
        auto input = [&](size_t sublayer) { return loader.input(decoder_norms, decoder_input, index + sublayer); };
        decoder_layers.push_back({loader.self_attention(name + ".self_attention", input(0)),
                                  loader.cross_attention(name + ".cross_attention", input(1), encoded),
                                  loader.feed_forward(name + ".feed_forward", input(2))});
    }
    if (pre_norm) decoder_norms.push_back(loader.norm("decoder.norm"));
    output_bias = Loader::add_offset(embedding, decoder_norms.back().grids.output, {});
    attends_codes = decoder_layers.front().self_attention.grids.query.present();
    ranges.finish();
}

}  // namespace pocketmt
