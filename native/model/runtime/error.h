// The engine's exceptions.
#pragma once

#include <stdexcept>

namespace pocketmt {

// An argument is wrong, or the system lacks something; in Python pocketmt.errors.EngineError.
class Error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The description or the bytes of a model are wrong; in Python pocketmt.errors.ModelFileError.
class ModelError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Thrown by work that its caller cancelled.
class Cancelled : public std::exception {
  public:
    const char* what() const noexcept override { return "cancelled"; }
};

}  // namespace pocketmt
