// The fields of a network's description, read by name. Python passes them as they stand in the model file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace pocketmt {

using FieldValue = std::variant<bool, uint64_t, double, std::string, std::vector<uint64_t>>;
using FieldValues = std::unordered_map<std::string, FieldValue>;

// Hands out fields by name. Every function throws ModelError naming a field that is missing or out of range.
class Fields {
  public:
    explicit Fields(FieldValues values) : values_(std::move(values)) {}

    // A whole number within bounds.
    size_t size(const std::string& name, size_t least, size_t most);
    // A list of whole numbers within bounds; may be empty.
    std::vector<size_t> sizes(const std::string& name, size_t least, size_t most);
    // A number above 0.
    double number(const std::string& name, double most);
    bool has(const std::string& name) const { return values_.contains(name); }
    bool flag(const std::string& name) { return take<bool>(name, "a boolean"); }
    // The value that a text stands for.
    template <class Value>
    Value choice(const std::string& name, std::initializer_list<std::pair<const char*, Value>> choices) {
        const std::string text = take<std::string>(name, "a text");
        std::string known;
        for (const auto& [key, value] : choices) {
            if (text == key) return value;
            known += (known.empty() ? "\"" : " or \"") + std::string(key) + "\"";
        }
        refuse(name, "\"" + text + "\"", known);
    }
    // Throws where a field was not asked for.
    void finish() const;

  private:
    // expected: in words, for the error.
    template <class Value>
    const Value& take(const std::string& name, const std::string& expected) {
        const FieldValue& value = find(name);
        if (!std::holds_alternative<Value>(value)) refuse(name, shown(value), expected);
        return std::get<Value>(value);
    }
    const FieldValue& find(const std::string& name);
    static std::string shown(const FieldValue& value);
    [[noreturn]] static void refuse(const std::string& name, const std::string& value, const std::string& expected);

    FieldValues values_;
    std::set<std::string> taken_;
};

}  // namespace pocketmt
