// The families of products by name.
#pragma once

#include <map>
#include <string>

#include "kernels/product.h"

namespace pocketmt::testing {

inline const std::map<std::string, ProductFamily> product_families = {
    {"float32", ProductFamily::float32},
    {"integer", ProductFamily::integer},
    {"six_bit", ProductFamily::six_bit},
    {"lookup_table", ProductFamily::lookup_table},
    {"row_lookup_table", ProductFamily::row_lookup_table},
    {"binary_code", ProductFamily::binary_code}};

}  // namespace pocketmt::testing
