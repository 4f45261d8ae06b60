// Python's global interpreter lock, taken and given back by threads that may outlive Python.
//
// Where Python ends while other threads compute, they must not come back to it: up to version 3.13 it ends such a
// thread by unwinding its stack, which ends the process with an error. Here they wait until the process has ended, as
// Python lets them do from 3.14 on.
#pragma once

#include <Python.h>

namespace pocketmt {

// Has all threads but the calling one wait for ever where they would come back to Python. Returns when none is about
// to.
void keep_threads_from_python();
// Whether the calling thread is one of them.
bool kept_from_python();

// Gives the lock back while it exists.
class WithoutInterpreterLock {
  public:
    WithoutInterpreterLock() : state_(PyEval_SaveThread()) {}
    ~WithoutInterpreterLock();
    WithoutInterpreterLock(const WithoutInterpreterLock&) = delete;
    WithoutInterpreterLock& operator=(const WithoutInterpreterLock&) = delete;

  private:
    PyThreadState* const state_;
};

// Has the lock while it exists.
class WithInterpreterLock {
  public:
    WithInterpreterLock();
    ~WithInterpreterLock() { PyGILState_Release(state_); }
    WithInterpreterLock(const WithInterpreterLock&) = delete;
    WithInterpreterLock& operator=(const WithInterpreterLock&) = delete;

  private:
    PyGILState_STATE state_;
};

}  // namespace pocketmt
