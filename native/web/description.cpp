#include "web/description.h"

#include <bit>
#include <cstdlib>
#include <string>

#include "model/runtime/error.h"

namespace pocketmt::web {

namespace {

class Words {
  public:
    explicit Words(std::string_view line) : rest_(line) {}

    bool more() const { return !rest_.empty(); }
    std::string word() {
        if (!more()) throw ModelError("a line of the model's description ends too early");
        const size_t end = rest_.find(' ');
        const std::string_view found = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        return std::string(found);
    }
    uint64_t whole() { return std::strtoull(word().c_str(), nullptr, 10); }
    double real() { return std::bit_cast<double>(uint64_t{std::strtoull(word().c_str(), nullptr, 16)}); }
    std::vector<uint64_t> wholes() {
        std::vector<uint64_t> numbers;
        while (more()) numbers.push_back(whole());
        return numbers;
    }

  private:
    std::string_view rest_;
};

bool read_field(const std::string& kind, Words& words, FieldValues& fields) {
    if (kind != "flag" && kind != "whole" && kind != "real" && kind != "text" && kind != "list") return false;
    FieldValue& field = fields[words.word()];
    if (kind == "flag") field = words.whole() != 0;
    if (kind == "whole") field = words.whole();
    if (kind == "real") field = words.real();
    if (kind == "text") field = words.word();
    if (kind == "list") field = words.wholes();
    return true;
}

void read_tensor(bool stored, Words& words, ModelDescription& model) {
    const std::string name = words.word();
    if (!stored) model.places.emplace(name, static_cast<uint32_t>(model.places.size()));
    TensorDescription& tensor = model.file.tensors[name];
    tensor.dtype = words.word();
    if (stored) tensor.offset = words.whole();
    tensor.size = words.whole();
    tensor.shape = words.wholes();
    tensor.coding = stored ? TensorCoding::none : TensorCoding::other;
}

void read_group(Words& words, ModelDescription& model) {
    GroupDescription& group = model.file.matrices[words.word()].emplace_back();
    group.scheme = words.word();
    group.bits = static_cast<unsigned>(words.whole());
    group.granularity = words.word();
    group.rows = words.whole();
    while (words.more()) group.levels.push_back(std::atoi(words.word().c_str()));
}

void read_line(std::string_view line, ModelDescription& model) {
    Words words(line);
    const std::string kind = words.word();
    if (read_field(kind, words, model.architecture)) return;
    if (kind == "tensor" || kind == "stored") {
        read_tensor(kind == "stored", words, model);
    } else if (kind == "group") {
        read_group(words, model);
    } else if (kind == "vector_group") {
        VectorGroupDescription& group = model.file.vector_groups.emplace_back();
        group.name = words.word();
        while (words.more()) group.vectors.push_back(words.word());
    } else if (kind == "logarithmic_activations") {
        const float top = static_cast<float>(words.real());
        model.file.logarithmic_activations = LogarithmicActivations{top, static_cast<float>(words.real())};
    } else if (kind == "activation_bits") {
        model.activation_bits = static_cast<unsigned>(words.whole());
    } else if (kind == "frequent") {
        model.frequent = words.whole();
    } else {
        throw ModelError("the model's description has a line of \"" + kind + "\"");
    }
}

}  // namespace

ModelDescription read_description(std::string_view text) {
    ModelDescription model;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        read_line(text.substr(0, end), model);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return model;
}

}  // namespace pocketmt::web
