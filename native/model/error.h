// What the engine throws on purpose; Python sees it as pocketmt.errors.EngineError.
#pragma once

#include <stdexcept>

namespace pocketmt {

class Error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Thrown out of a search that its caller gave up.
class Cancelled : public std::exception {
  public:
    const char* what() const noexcept override { return "cancelled"; }
};

}  // namespace pocketmt
