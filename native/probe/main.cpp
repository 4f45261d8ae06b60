#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "probe/probe.h"

namespace {

constexpr const char* usage =
    "usage: pocketmt_probe name | products | repeat FAMILY BITS OUTPUTS INPUTS ROWS TIMES |\n"
    "    translate MODEL < DESCRIPTION | logits MODEL < DESCRIPTION\n";

int run(int argument_count, char** arguments) {
    using namespace pocketmt;
    const std::string_view command = argument_count > 1 ? arguments[1] : "";
    const Kernels& table = best_kernels();
    if (command == "name" && argument_count == 2) {
        std::cout << table.name << "\n";
    } else if (command == "products" && argument_count == 2) {
        check_kernels(table);
        std::cout << probe::compare_products(table) << "\n";
    } else if (command == "repeat") {
        probe::repeat_product(table, std::vector<std::string>(arguments + 2, arguments + argument_count));
    } else if (command == "translate" && argument_count == 3) {
        probe::translate(table, arguments[2], std::cin, std::cout);
    } else if (command == "logits" && argument_count == 3) {
        probe::write_logits(table, arguments[2], std::cin, std::cout);
    } else {
        std::cerr << usage;
        return 2;
    }
    return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
    try {
        return run(argument_count, arguments);
    } catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << "\n";
        return 1;
    }
}
