// What the engine throws on purpose.
#pragma once

#include <stdexcept>

namespace pocketmt {

// What was asked cannot be done; Python sees pocketmt.errors.EngineError.
class Error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The description or the bytes of a model are wrong; Python sees pocketmt.errors.ModelFileError.
class ModelError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Thrown out of a search that its caller gave up.
class Cancelled : public std::exception {
  public:
    const char* what() const noexcept override { return "cancelled"; }
};

}  // namespace pocketmt
