#include "model/weights.h"

#include <utility>

#include "model/error.h"
#include "model/vectors.h"

namespace pocketmt {

class WeightsLoader {
  public:
    WeightsLoader(const Kernels& kernels, Arena& arena, Ranges& ranges, const Architecture& architecture,
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

    SelfAttention self_attention(const std::string& name, size_t heads, const Grid& input) {
        size_t d = architecture_.model_dimension, a = heads * architecture_.head_size;
        bool bias = architecture_.attention_bias;
        AttentionGrids grids = attention_grids(name, heads);
        Grid attended = ranges_.next("attention_output", a);
        return {heads, linear(name + ".query_key_value", 3 * a, d, bias, input),
                linear(name + ".output", d, a, bias, attended), grids, attended};
    }

    CrossAttention cross_attention(const std::string& name, size_t heads, const Grid& input, const Grid& encoded) {
        size_t d = architecture_.model_dimension, a = heads * architecture_.head_size;
        bool bias = architecture_.attention_bias;
        AttentionGrids grids = attention_grids(name, heads);
        Grid attended = ranges_.next("attention_output", a);
        return {heads,
                linear(name + ".query", a, d, bias, input),
                linear(name + ".key_value", 2 * a, d, bias, encoded),
                linear(name + ".output", d, a, bias, attended),
                grids,
                attended};
    }

    RecurrentUnit recurrent_unit(const std::string& name, const Grid& input) {
        size_t d = architecture_.model_dimension;
        return {linear(name + ".input_forget", 2 * d, d, false, input), vectors_.values(name + ".forget_bias", d)};
    }

    FeedForward feed_forward(const std::string& name, size_t f, const Grid& input) {
        size_t d = architecture_.model_dimension;
        Grid activated = ranges_.next("relu_output", 1);
        return {f, linear(name + ".inner", f, d, true, input), linear(name + ".outer", d, f, true, activated),
                activated, ranges_.next("feed_forward_output", d)};
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

    AttentionGrids attention_grids(const std::string& name, size_t heads) {
        size_t head_size = architecture_.head_size;
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

Weights::Weights(const Kernels& kernels, const Architecture& architecture, const TensorSource& source,
                 unsigned activation_bits)
    : embedding(kernels, arena, source, "embedding.weight", architecture.vocabulary_size,
                architecture.model_dimension) {
    if (architecture.lstm) return;
    Ranges ranges(source, arena, activation_bits);
    WeightsLoader loader(kernels, arena, ranges, architecture, source);
    position = ranges.next("position", 1);
    encoder_input = ranges.next("embedding_sum", architecture.model_dimension);
    decoder_input = ranges.next("embedding_sum", architecture.model_dimension);
    bool pre_norm = architecture.norm == NormPlace::pre;
    encoder_layers.reserve(architecture.encoder.size());
    for (const LayerSizes& sizes : architecture.encoder) {
        std::string name = "encoder.layers." + std::to_string(encoder_layers.size());
        size_t index = encoder_norms.size();
        for (const char* norm : {".self_attention_norm", ".feed_forward_norm"})
            encoder_norms.push_back(loader.norm(name + norm));
        auto input = [&](size_t sublayer) { return loader.input(encoder_norms, encoder_input, index + sublayer); };
        encoder_layers.push_back({loader.self_attention(name + ".self_attention", sizes.heads, input(0)),
                                  loader.feed_forward(name + ".feed_forward", sizes.feed_forward, input(1))});
    }
    if (pre_norm) encoder_norms.push_back(loader.norm("encoder.norm"));
    load_decoder(loader, architecture);
    if (pre_norm) decoder_norms.push_back(loader.norm("decoder.norm"));
    decoded = decoder_norms.back().grids.output;
    output_bias = WeightsLoader::add_offset(embedding, decoded, {});
    const std::optional<SelfAttention>& first = decoder_layers.front().self_attention;
    attends_codes = first && first->grids.query.present();
    ranges.finish();
}

void Weights::load_decoder(WeightsLoader& loader, const Architecture& architecture) {
    Grid encoded = encoder_norms.back().grids.output;
    size_t history = 0, memory = 0;
    decoder_layers.reserve(architecture.decoder.size());
    for (const LayerSizes& sizes : architecture.decoder) {
        std::string name = "decoder.layers." + std::to_string(decoder_layers.size());
        size_t index = decoder_norms.size();
        const char* first = sizes.heads == 0 ? ".ssru" : ".self_attention";
        for (const std::string& sublayer :
             {std::string(first), std::string(".cross_attention"), std::string(".feed_forward")})
            decoder_norms.push_back(loader.norm(name + sublayer + "_norm"));
        auto input = [&](size_t sublayer) { return loader.input(decoder_norms, decoder_input, index + sublayer); };
        std::optional<SelfAttention> self_attention;
        std::optional<RecurrentUnit> recurrent_unit;
        if (sizes.heads == 0) {
            recurrent_unit = loader.recurrent_unit(name + first, input(0));
        } else {
            self_attention = loader.self_attention(name + first, sizes.heads, input(0));
        }
        decoder_layers.push_back(
            {std::move(self_attention), std::move(recurrent_unit),
             loader.cross_attention(name + ".cross_attention", sizes.cross_heads, input(1), encoded),
             loader.feed_forward(name + ".feed_forward", sizes.feed_forward, input(2)), history, memory});
        history += architecture.history(sizes);
        memory += sizes.cross_heads * architecture.head_size;
    }
    const std::vector<Norm> once = decoder_norms;
    for (size_t round = 1; round < architecture.decoder_rounds; ++round)
        decoder_norms.insert(decoder_norms.end(), once.begin(), once.end());
}

}  // namespace pocketmt
