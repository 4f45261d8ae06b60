#include "model/description/fields.h"

#include "model/runtime/error.h"
#include "model/runtime/number_text.h"

namespace pocketmt {

namespace {

std::string range(size_t least, size_t most) {
    return std::to_string(least) + " to " + std::to_string(most);
}

}  // namespace

size_t Fields::size(const std::string& name, size_t least, size_t most) {
    const uint64_t value = take<uint64_t>(name, range(least, most));
    if (value < least || value > most) refuse(name, std::to_string(value), range(least, most));
    return value;
}

std::vector<size_t> Fields::sizes(const std::string& name, size_t least, size_t most) {
    std::vector<size_t> sizes;
    for (const uint64_t size : take<std::vector<uint64_t>>(name, "a list of sizes")) {
        if (size < least || size > most) refuse(name, "a list with " + std::to_string(size), range(least, most));
        sizes.push_back(size);
    }
    return sizes;
}

double Fields::number(const std::string& name, double most) {
    const std::string expected = "a number above 0 and at most " + shown(most);
    const double value = take<double>(name, expected);
    if (!(value > 0.0 && value <= most)) refuse(name, shown(value), expected);
    return value;
}

void Fields::finish() const {
    for (const auto& [name, value] : values_) {
        if (!taken_.contains(name)) throw ModelError("architecture: unknown field \"" + name + "\"");
    }
}

const FieldValue& Fields::find(const std::string& name) {
    const auto found = values_.find(name);
    if (found == values_.end()) throw ModelError("architecture: missing field \"" + name + "\"");
    taken_.insert(name);
    return found->second;
}

std::string Fields::shown(const FieldValue& value) {
    if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const uint64_t* whole = std::get_if<uint64_t>(&value)) return std::to_string(*whole);
    if (const std::string* text = std::get_if<std::string>(&value)) return "\"" + *text + "\"";
    const double* number = std::get_if<double>(&value);
    return number == nullptr ? "a list" : number_text(*number);
}

void Fields::refuse(const std::string& name, const std::string& value, const std::string& expected) {
    throw ModelError("architecture: " + name + " is " + value + ", it must be " + expected);
}

}  // namespace pocketmt
