// A model as bytes and a description, one thing a line, words with spaces between them; `...` is any number of words:
//   architecture NORM ATTENTION_BIAS DECODER_ROUNDS MODEL_DIMENSION HEAD_SIZE VOCABULARY_SIZE
//   encoder HEADS CROSS_HEADS FEED_FORWARD          a layer; decoder: the same
//   lstm ENCODER_LAYERS DECODER_LAYERS DIMENSION HEADS
//   tensor NAME DTYPE OFFSET SIZE DIMENSION...
//   group MATRIX SCHEME BITS GRANULARITY ROWS LEVEL...
//   stack MATRIX VECTOR...
//   products TOP SCALE
//   activation_bits BITS
//   shortlist OFFSET SIZE FREQUENT
//   beam SIZE                                       of the search
//   source ID...                                    a sentence
//   target ID...                                    of the sentence before, for logits
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "probe/probe.h"
#include "search/engine.h"

namespace pocketmt::probe {

namespace {

using Tokens = std::vector<uint32_t>;

template <class T>
T next(std::istream& words) {
    T value{};
    if (!(words >> value)) throw std::runtime_error("a line of the description ends too early");
    return value;
}

template <class T>
std::vector<T> rest(std::istream& words) {
    return {std::istream_iterator<T>(words), {}};
}

struct Part {
    size_t offset = 0, size = 0;
};

class Description {
  public:
    explicit Description(std::istream& lines) {
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            const auto kind = next<std::string>(words);
            const auto reader = readers_.find(kind);
            if (reader == readers_.end()) throw std::runtime_error("the description has a line of '" + kind + "'");
            reader->second(words);
        }
    }

    Architecture architecture;
    pocketmt::Description model;
    unsigned activation_bits = 0;
    Part shortlist;
    size_t frequent = 0;
    size_t beam_size = 1;
    std::vector<Tokens> sources, targets;

  private:
    static LayerSizes layer(std::istream& words) {
        const auto heads = next<size_t>(words), cross_heads = next<size_t>(words);
        return {heads, cross_heads, next<size_t>(words)};
    }
    void read_architecture(std::istream& words) {
        architecture.norm = next<std::string>(words) == "pre" ? NormPlace::pre : NormPlace::post;
        architecture.attention_bias = next<bool>(words);
        architecture.decoder_rounds = next<size_t>(words);
        architecture.model_dimension = next<size_t>(words);
        architecture.head_size = next<size_t>(words);
        architecture.vocabulary_size = next<size_t>(words);
    }
    void read_lstm(std::istream& words) {
        LstmSizes sizes{};
        sizes.encoder_layers = next<size_t>(words);
        sizes.decoder_layers = next<size_t>(words);
        sizes.dimension = next<size_t>(words);
        sizes.heads = next<size_t>(words);
        architecture.lstm = sizes;
    }
    void read_tensor(std::istream& words) {
        TensorDescription& tensor = model.tensors[next<std::string>(words)];
        tensor.dtype = next<std::string>(words);
        tensor.offset = next<uint64_t>(words);
        tensor.size = next<uint64_t>(words);
        tensor.shape = rest<uint64_t>(words);
    }
    void read_group(std::istream& words) {
        GroupDescription& group = model.matrices[next<std::string>(words)].emplace_back();
        group.scheme = next<std::string>(words);
        group.bits = next<unsigned>(words);
        group.granularity = next<std::string>(words);
        group.rows = next<uint64_t>(words);
        group.levels = rest<int>(words);
    }
    void read_stack(std::istream& words) {
        auto name = next<std::string>(words);
        model.stacks.push_back({std::move(name), rest<std::string>(words)});
    }
    void read_products(std::istream& words) {
        const auto top = next<float>(words);
        model.products = LogarithmicActivations{top, next<float>(words)};
    }
    void read_shortlist(std::istream& words) {
        shortlist.offset = next<size_t>(words);
        shortlist.size = next<size_t>(words);
        frequent = next<size_t>(words);
    }

    const std::map<std::string, std::function<void(std::istream&)>> readers_ = {
        {"architecture", [this](std::istream& words) { read_architecture(words); }},
        {"encoder", [this](std::istream& words) { architecture.encoder.push_back(layer(words)); }},
        {"decoder", [this](std::istream& words) { architecture.decoder.push_back(layer(words)); }},
        {"lstm", [this](std::istream& words) { read_lstm(words); }},
        {"tensor", [this](std::istream& words) { read_tensor(words); }},
        {"group", [this](std::istream& words) { read_group(words); }},
        {"stack", [this](std::istream& words) { read_stack(words); }},
        {"products", [this](std::istream& words) { read_products(words); }},
        {"activation_bits", [this](std::istream& words) { activation_bits = next<unsigned>(words); }},
        {"shortlist", [this](std::istream& words) { read_shortlist(words); }},
        {"beam", [this](std::istream& words) { beam_size = next<size_t>(words); }},
        {"source", [this](std::istream& words) { sources.push_back(rest<uint32_t>(words)); }},
        {"target", [this](std::istream& words) { targets.push_back(rest<uint32_t>(words)); }},
    };
};

std::vector<char> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// use(description, engine)
template <class Use>
void with_engine(const Kernels& table, const std::string& model, std::istream& lines, Use&& use) {
    const Description description(lines);
    const std::vector<char> file = read_file(model);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(file));
    const Part& part = description.shortlist;
    if (part.offset > bytes.size() || part.size > bytes.size() - part.offset)
        throw std::runtime_error("the shortlist lies beyond the end of " + model);
    const TensorSource source(bytes, description.model, {}, {});
    Engine engine(table, description.architecture, source, 1, description.activation_bits,
                  {bytes.subspan(part.offset, part.size), description.frequent});
    use(description, engine);
}

constexpr auto never_cancelled = [] {};

}  // namespace

void translate(const Kernels& table, const std::string& model, std::istream& description, std::ostream& out) {
    with_engine(table, model, description, [&](const Description& given, Engine& engine) {
        SearchOptions options;
        options.beam_size = given.beam_size;
        for (const auto& translations : engine.finish(*engine.submit(given.sources, options), never_cancelled)) {
            const char* separator = "";
            for (const uint32_t token : translations.front().tokens) {
                out << separator << token;
                separator = " ";
            }
            out << "\n";
        }
    });
}

void write_logits(const Kernels& table, const std::string& model, std::istream& description, std::ostream& out) {
    with_engine(table, model, description, [&](const Description& given, Engine& engine) {
        if (given.sources.size() != given.targets.size()) throw std::runtime_error("a source has no target");
        for (size_t i = 0; i < given.sources.size(); ++i) {
            const std::vector<float> logits = engine.logits(given.sources[i], given.targets[i], never_cancelled);
            out.write(reinterpret_cast<const char*>(logits.data()),
                      static_cast<std::streamsize>(logits.size() * sizeof(float)));
        }
    });
}

}  // namespace pocketmt::probe
