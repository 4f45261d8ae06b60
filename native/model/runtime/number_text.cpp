#include "model/runtime/number_text.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace pocketmt {

// std::to_chars does the same with 128 kB of tables.
std::string number_text(double number) {
    char whole[32], digits[32];
    for (int precision = 1; precision <= 17; ++precision) {
        std::snprintf(digits, sizeof(digits), "%.*g", precision, number);
        if (std::strtod(digits, nullptr) == number) break;
    }
    const size_t length = static_cast<size_t>(std::snprintf(whole, sizeof(whole), "%.0f", number));
    return length <= std::strlen(digits) && std::strtod(whole, nullptr) == number ? whole : digits;
}

}  // namespace pocketmt
