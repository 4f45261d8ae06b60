// Product of 4-bit codes with a table of levels for each row, with vpdpbusd on 256-bit registers: see
// integer_product/avx_vnni_product.h.
#pragma once

#include "integer_product/avx_vnni_product.h"
#include "row_table_product/avx2_product.h"

namespace pocketmt {
namespace {

constexpr LevelTableProduct avx_vnni_row_table_product = row_tables<OffsetBytes>;

}  // namespace
}  // namespace pocketmt
