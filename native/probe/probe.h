// pocketmt_probe: the engine as a program that needs no Python, for tests on a processor that is only emulated. What it
// runs is the best instruction set, or the one that POCKETMT_INSTRUCTION_SET names.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "kernels/kernels.h"

namespace pocketmt::probe {

// Products of random shapes and numbers against the plain reference: integers bit for bit, fp32 within the bound of its
// sums' rounding. Returns how many were compared; throws std::runtime_error naming the first that disagrees, and where
// a kernel leaves its arrays.
size_t compare_products(const Kernels& table);

// Packs random weights and multiplies them by random activations, TIMES times: words are FAMILY, as in
// testing/product_families.h, BITS, OUTPUTS, INPUTS, ROWS and TIMES. Throws std::invalid_argument naming what is wrong.
void repeat_product(const Kernels& table, std::span<const std::string> words);

// Translates the sentences of `description`, one line of ids for each, or writes their logits as raw floats: see
// model.cpp for its lines. model: the file with the tensors' bytes.
void translate(const Kernels& table, const std::string& model, std::istream& description, std::ostream& out);
void write_logits(const Kernels& table, const std::string& model, std::istream& description, std::ostream& out);

}  // namespace pocketmt::probe
