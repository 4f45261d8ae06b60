#include "model/transformer/weights.h"

#include <string>
#include <utility>

#include "model/runtime/error.h"
#include "model/weights/activation_ranges.h"
#include "model/weights/vectors.h"

namespace pocketmt {

class TransformerLoader {
  public:
    TransformerLoader(const Kernels& kernels, Arena& arena, ActivationRanges& ranges,
                      const TransformerArchitecture& architecture, const TensorSource& source)
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

    SelfAttention self_attention(const std::string& name, size_t heads, const QuantizationParameters& input) {
        size_t d = architecture_.model_dimension, a = heads * architecture_.head_size();
        bool bias = architecture_.attention_bias;
        AttentionQuantization quantization = attention_quantization(name, heads);
        QuantizationParameters attended = ranges_.next("attention_output", a);
        return {heads, linear(name + ".query_key_value", 3 * a, d, bias, input),
                linear(name + ".output", d, a, bias, attended), quantization, attended};
    }

    CrossAttention cross_attention(const std::string& name, size_t heads, const QuantizationParameters& input,
                                   const QuantizationParameters& encoded) {
        size_t d = architecture_.model_dimension, a = heads * architecture_.head_size();
        bool bias = architecture_.attention_bias;
        AttentionQuantization quantization = attention_quantization(name, heads);
        QuantizationParameters attended = ranges_.next("attention_output", a);
        return {heads,
                linear(name + ".query", a, d, bias, input),
                linear(name + ".key_value", 2 * a, d, bias, encoded),
                linear(name + ".output", d, a, bias, attended),
                quantization,
                attended};
    }

    RecurrentUnit recurrent_unit(const std::string& name, const QuantizationParameters& input) {
        size_t d = architecture_.model_dimension;
        return {linear(name + ".input_forget", 2 * d, d, false, input), vectors_.values(name + ".forget_bias", d)};
    }

    AverageAttention average_attention(const std::string& name) {
        const size_t d = architecture_.model_dimension, n = architecture_.average_attention_dimension;
        AverageAttention found;
        if (n > 0) found.layers = {linear(name + ".inner", n, d, true, {}), linear(name + ".outer", d, n, true, {})};
        if (architecture_.average_attention_gate) {
            found.gates = {linear(name + ".input_gate", d, d, true, {}),
                           linear(name + ".average_gate", d, d, true, {})};
        }
        return found;
    }

    FeedForward feed_forward(const std::string& name, size_t f, const QuantizationParameters& input) {
        size_t d = architecture_.model_dimension;
        QuantizationParameters activated = ranges_.next("relu_output", 1);
        return {f, linear(name + ".inner", f, d, true, input), linear(name + ".outer", d, f, true, activated),
                activated, ranges_.next("feed_forward_output", d)};
    }

    // Quantization of the input of sub-layer `index` of a stack, which the norm before it computes.
    const QuantizationParameters& input(const std::vector<Norm>& norms, const QuantizationParameters& embedded,
                                        size_t index) const {
        if (architecture_.norm == NormPlace::pre) return norms[index].quantization.output;
        return index == 0 ? embedded : norms[index - 1].quantization.output;
    }

  private:
    Linear linear(const std::string& name, size_t rows, size_t columns, bool bias,
                  const QuantizationParameters& input) {
        Matrix matrix(kernels_, arena_, source_, name + ".weight", rows, columns);
        std::vector<float> stored = bias ? vectors_.values(name + ".bias", rows) : std::vector<float>();
        std::vector<float> complete = with_offset(matrix, input, std::move(stored));
        return {std::move(matrix), std::move(complete)};
    }

    AttentionQuantization attention_quantization(const std::string& name, size_t heads) {
        size_t head_size = architecture_.head_size();
        AttentionQuantization found;
        for (QuantizationParameters* each : {&found.query, &found.key, &found.value})
            *each = ranges_.next("query_key_value", head_size, heads);
        found.numerator = ranges_.next("softmax_numerator", 1);
        found.weight = ranges_.next("softmax_output", 1);
        if (!found.query.present() && (found.numerator.present() || found.weight.present()))
            throw ModelError("attention " + name + ": a quantized softmax needs ranges of query, key and value");
        return found;
    }

    const Kernels& kernels_;
    Arena& arena_;
    ActivationRanges& ranges_;
    const TransformerArchitecture& architecture_;
    const TensorSource& source_;
    Vectors vectors_;
};

namespace {

// Name of a decoder layer's first sub-layer.
std::string first_sublayer(DecoderAutoregression autoregression) {
    switch (autoregression) {
        case DecoderAutoregression::ssru:
            return "ssru";
        case DecoderAutoregression::average_attention:
            return "average_attention";
        case DecoderAutoregression::self_attention:
            break;
    }
    return "self_attention";
}

// Throws where a network with trained ranges is described with an option for which there are none.
void check_quantizable(const TransformerArchitecture& architecture) {
    const char* option = nullptr;
    if (architecture.activation != ActivationFunction::relu) option = "activation, it must be \"relu\"";
    if (architecture.autoregression == DecoderAutoregression::average_attention)
        option = "decoder_autoregression, it must be \"self_attention\"";
    if (architecture.embedding_norm) option = "embedding_norm, it must be false";
    if (option != nullptr) throw ModelError(std::string("quantized activations do not support this ") + option);
}

}  // namespace

TransformerWeights::TransformerWeights(const Kernels& kernels, Arena& arena,
                                       const TransformerArchitecture& architecture, const TensorSource& source,
                                       unsigned activation_bits) {
    ActivationRanges ranges(source, arena, activation_bits);
    if (activation_bits != 0) check_quantizable(architecture);
    TransformerLoader loader(kernels, arena, ranges, architecture, source);
    position = ranges.next("position", 1);
    encoder_input = ranges.next("embedding_sum", architecture.model_dimension);
    decoder_input = ranges.next("embedding_sum", architecture.model_dimension);
    load_encoder(loader, architecture);
    load_decoder(loader, architecture);
    decoded = decoder_norms.back().quantization.output;
    const std::optional<SelfAttention>& first = decoder_layers.front().self_attention;
    attends_to_codes = first && first->quantization.query.present();
    ranges.finish();
}

void TransformerWeights::load_encoder(TransformerLoader& loader, const TransformerArchitecture& architecture) {
    if (architecture.embedding_norm) encoder_norms.push_back(loader.norm("encoder.embedding_norm"));
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
    if (architecture.norm == NormPlace::pre) encoder_norms.push_back(loader.norm("encoder.norm"));
}

void TransformerWeights::load_decoder(TransformerLoader& loader, const TransformerArchitecture& architecture) {
    QuantizationParameters encoded = encoder_norms.back().quantization.output;
    if (architecture.embedding_norm) decoder_norms.push_back(loader.norm("decoder.embedding_norm"));
    const size_t embedding_norms = decoder_norms.size();
    size_t earlier_state = 0, earlier_queries = 0;
    decoder_layers.reserve(architecture.decoder.size());
    for (const LayerSizes& sizes : architecture.decoder) {
        std::string name = "decoder.layers." + std::to_string(decoder_layers.size());
        size_t index = decoder_norms.size();
        const std::string first = "." + first_sublayer(architecture.autoregression);
        for (const std::string& sublayer : {first, std::string(".cross_attention"), std::string(".feed_forward")})
            decoder_norms.push_back(loader.norm(name + sublayer + "_norm"));
        auto input = [&](size_t sublayer) { return loader.input(decoder_norms, decoder_input, index + sublayer); };
        std::optional<SelfAttention> self_attention;
        std::optional<RecurrentUnit> recurrent_unit;
        std::optional<AverageAttention> average_attention;
        switch (architecture.autoregression) {
            case DecoderAutoregression::self_attention:
                self_attention = loader.self_attention(name + first, sizes.heads, input(0));
                break;
            case DecoderAutoregression::ssru:
                recurrent_unit = loader.recurrent_unit(name + first, input(0));
                break;
            case DecoderAutoregression::average_attention:
                average_attention = loader.average_attention(name + first);
                break;
        }
        decoder_layers.push_back(
            {std::move(self_attention), std::move(recurrent_unit), std::move(average_attention),
             loader.cross_attention(name + ".cross_attention", sizes.cross_heads, input(1), encoded),
             loader.feed_forward(name + ".feed_forward", sizes.feed_forward, input(2)), earlier_state,
             earlier_queries});
        earlier_state += architecture.state_elements(sizes);
        earlier_queries += sizes.cross_heads * architecture.head_size();
    }
    const std::vector<Norm> once(decoder_norms.begin() + static_cast<std::ptrdiff_t>(embedding_norms),
                                 decoder_norms.end());
    for (size_t round = 1; round < architecture.decoder_rounds; ++round)
        decoder_norms.insert(decoder_norms.end(), once.begin(), once.end());
    if (architecture.norm == NormPlace::pre) decoder_norms.push_back(loader.norm("decoder.norm"));
}

}  // namespace pocketmt
