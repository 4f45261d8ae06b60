// A model's description as text, as the host writes it: one item a line, words separated by single spaces.
//   flag NAME 0|1                                   a field of the network's description; by type:
//   whole NAME NUMBER
//   real NAME REAL                                  REAL: the bits of a float64 in hexadecimal digits
//   text NAME WORD
//   list NAME NUMBER...
//   tensor NAME DTYPE SIZE DIMENSION...             the host has its bytes
//   stored NAME DTYPE OFFSET SIZE DIMENSION...      its bytes are in the module's memory
//   group MATRIX SCHEME BITS GRANULARITY ROWS LEVEL...
//   vector_group MATRIX VECTOR...
//   logarithmic_activations TOP SCALE
//   activation_bits BITS
//   frequent NUMBER                                 of pieces in each shortlist
#pragma once

#include <string_view>
#include <vector>

#include "model/description/architecture.h"
#include "model/weights/tensor_source.h"

namespace pocketmt::web {

struct ModelDescription {
    FieldValues architecture;
    FileDescription file;
    std::unordered_map<std::string, uint32_t> places;  // of tensors that the host has, in their order
    unsigned activation_bits = 0;
    size_t frequent = 0;
};

// Throws ModelError for text of another form.
ModelDescription read_description(std::string_view text);

}  // namespace pocketmt::web
