// Work on one matrix product by several threads; ThreadPool implements it, and WebAssembly has none.
#pragma once

#include <cstddef>
#include <functional>

namespace pocketmt {

class ProductSharing {
  public:
    virtual ~ProductSharing() = default;

    // Threads in addition to the calling one.
    virtual size_t workers() const = 0;
    // Calls work(0) .. work(parts - 1), each once. Rethrows an exception of a part after all parts have ended.
    virtual void run(size_t parts, const std::function<void(size_t)>& work) = 0;
};

}  // namespace pocketmt
