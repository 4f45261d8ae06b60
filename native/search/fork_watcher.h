// Notice that the process is a fork.
#pragma once

#include <functional>

namespace pocketmt {

// Calls a function in each process that is forked while this object exists, before fork returns there. Such a process
// has one thread, that which called fork. Other threads are missing in it, and what they had locked stays locked.
class ForkWatcher {
  public:
    explicit ForkWatcher(std::function<void()> in_child);
    ~ForkWatcher();
    ForkWatcher(const ForkWatcher&) = delete;
    ForkWatcher& operator=(const ForkWatcher&) = delete;

    void tell() const { in_child_(); }

  private:
    const std::function<void()> in_child_;
};

}  // namespace pocketmt
