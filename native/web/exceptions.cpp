// The C++ runtime's functions for exceptions. The toolchain has none for WebAssembly: throwing tells the host the
// message and never returns, so nothing is caught or unwound.
#include <exception>
#include <new>
#include <typeinfo>

#include "model/runtime/number_text.h"
#include "web/host.h"

namespace {

[[noreturn]] void out_of_memory() {
    pocketmt::web::fail("out of memory", "there is not enough memory");
}

struct MemoryHandler {
    MemoryHandler() { std::set_new_handler(out_of_memory); }
} memory_handler;

}  // namespace

// libc++ calls this where it would throw. Its own version writes to the standard error stream.
_LIBCPP_BEGIN_NAMESPACE_STD
[[noreturn]] void __libcpp_verbose_abort(const char* format, ...) noexcept {
    pocketmt::web::fail("internal error", format);
}
_LIBCPP_END_NAMESPACE_STD

namespace pocketmt {

std::string number_text(double number) {
    char text[32];
    web::write_number(number, text);
    return text;
}

}  // namespace pocketmt

extern "C" {

void* __cxa_allocate_exception(size_t size) noexcept {
    return ::operator new(size);
}

void __cxa_free_exception(void*) noexcept {}

// Every exception of the engine derives from std::exception, without multiple inheritance.
[[noreturn]] void __cxa_throw(void* thrown, std::type_info* type, void (*)(void*)) {
    pocketmt::web::fail(type->name(), static_cast<const std::exception*>(thrown)->what());
}

}  // extern "C"
