// Numbers in messages.
#pragma once

#include <string>

namespace pocketmt {

// The fewest digits that give the number back. Elsewhere than in WebAssembly, where the host writes it, in
// number_text.cpp.
std::string number_text(double number);

}  // namespace pocketmt
