// What the host of the WebAssembly module provides, and exceptions as calls of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pocketmt::web {

// Copies the bytes of tensor `index`, in the order of the description, to `target`.
__attribute__((import_module("pocketmt"), import_name("copy_tensor"))) void copy_tensor(uint32_t index, void* target);

// Ends the call that the host made: the host throws an exception, which leaves this module without unwinding it, so
// that it must not be used any more.
//   kind     the C++ name of the exception's class
//   message  with a null character at its end
[[noreturn]] __attribute__((import_module("pocketmt"), import_name("fail"))) void fail(const char* kind,
                                                                                       const char* message);

// Writes a number in decimal digits, with a null character at its end, to at least 32 bytes.
__attribute__((import_module("pocketmt"), import_name("write_number"))) void write_number(double number, char* target);

}  // namespace pocketmt::web
