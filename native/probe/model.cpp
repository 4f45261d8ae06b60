// A model as bytes and a description, one item a line, words separated by spaces; `...` is any number of words:
//   flag NAME 0|1                                   a field of the network's description; by type:
//   whole NAME NUMBER
//   real NAME NUMBER
//   text NAME WORD
//   list NAME NUMBER...
//   tensor NAME DTYPE OFFSET SIZE DIMENSION...
//   group MATRIX SCHEME BITS GRANULARITY ROWS LEVEL...
//   vector_group MATRIX VECTOR...
//   logarithmic_activations TOP SCALE
//   activation_bits BITS
//   shortlist OFFSET SIZE FREQUENT
//   beam SIZE                                       of the search
//   batch SIZE                                      most sentences translated together; default: the engine's choice
//   source ID...                                    a sentence
//   target ID...                                    of the last source, for logits
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

class Input {
  public:
    explicit Input(std::istream& lines) {
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            const auto kind = next<std::string>(words);
            const auto reader = readers_.find(kind);
            if (reader == readers_.end()) throw std::runtime_error("the description has a line of '" + kind + "'");
            reader->second(words);
        }
    }

    FieldValues architecture;
    FileDescription model;
    unsigned activation_bits = 0;
    Part shortlist;
    size_t frequent = 0;
    size_t beam_size = 1;
    size_t batch_size = 0;
    std::vector<Tokens> sources, targets;

  private:
    template <class Value>
    void read_field(std::istream& words) {
        const auto name = next<std::string>(words);
        architecture[name] = next<Value>(words);
    }
    void read_list(std::istream& words) {
        const auto name = next<std::string>(words);
        architecture[name] = rest<uint64_t>(words);
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
    void read_vector_group(std::istream& words) {
        auto name = next<std::string>(words);
        model.vector_groups.push_back({std::move(name), rest<std::string>(words)});
    }
    void read_logarithmic_activations(std::istream& words) {
        const auto top = next<float>(words);
        model.logarithmic_activations = LogarithmicActivations{top, next<float>(words)};
    }
    void read_shortlist(std::istream& words) {
        shortlist.offset = next<size_t>(words);
        shortlist.size = next<size_t>(words);
        frequent = next<size_t>(words);
    }

    const std::map<std::string, std::function<void(std::istream&)>> readers_ = {
        {"flag", [this](std::istream& words) { read_field<bool>(words); }},
        {"whole", [this](std::istream& words) { read_field<uint64_t>(words); }},
        {"real", [this](std::istream& words) { read_field<double>(words); }},
        {"text", [this](std::istream& words) { read_field<std::string>(words); }},
        {"list", [this](std::istream& words) { read_list(words); }},
        {"tensor", [this](std::istream& words) { read_tensor(words); }},
        {"group", [this](std::istream& words) { read_group(words); }},
        {"vector_group", [this](std::istream& words) { read_vector_group(words); }},
        {"logarithmic_activations", [this](std::istream& words) { read_logarithmic_activations(words); }},
        {"activation_bits", [this](std::istream& words) { activation_bits = next<unsigned>(words); }},
        {"shortlist", [this](std::istream& words) { read_shortlist(words); }},
        {"beam", [this](std::istream& words) { beam_size = next<size_t>(words); }},
        {"batch", [this](std::istream& words) { batch_size = next<size_t>(words); }},
        {"source", [this](std::istream& words) { sources.push_back(rest<uint32_t>(words)); }},
        {"target", [this](std::istream& words) { targets.push_back(rest<uint32_t>(words)); }},
    };
};

std::vector<char> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Calls use(input, engine).
template <class Use>
void with_engine(const Kernels& table, const std::string& model, std::istream& lines, Use&& use) {
    const Input input(lines);
    const std::vector<char> file = read_file(model);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(file));
    const Part& part = input.shortlist;
    if (part.offset > bytes.size() || part.size > bytes.size() - part.offset)
        throw std::runtime_error("the shortlist is beyond the end of " + model);
    const TensorSource source(bytes, input.model, {}, {});
    const StoredShortlist shortlist{bytes.subspan(part.offset, part.size), input.frequent};
    Engine engine(Ensemble({std::make_shared<Network>(table, describe_network(input.architecture), source,
                                                      input.activation_bits, shortlist)}),
                  1);
    use(input, engine);
}

constexpr auto never_cancelled = [] {};

}  // namespace

void translate(const Kernels& table, const std::string& model, std::istream& description, std::ostream& out) {
    with_engine(table, model, description, [&](const Input& given, Engine& engine) {
        SearchOptions options;
        options.beam_size = given.beam_size;
        options.batch_size = given.batch_size;
        std::vector<Request> requests;
        for (const Tokens& source : given.sources) requests.push_back({source, {}});
        for (const auto& translations : engine.finish(engine.submit(requests, options), never_cancelled)) {
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
    with_engine(table, model, description, [&](const Input& given, Engine& engine) {
        if (given.sources.size() != given.targets.size()) throw std::runtime_error("a source has no target");
        for (size_t i = 0; i < given.sources.size(); ++i) {
            const std::vector<float> logits = engine.logits(given.sources[i], given.targets[i], never_cancelled);
            out.write(reinterpret_cast<const char*>(logits.data()),
                      static_cast<std::streamsize>(logits.size() * sizeof(float)));
        }
    });
}

}  // namespace pocketmt::probe
