// 4-bit level table product with vpdpbusd on 256-bit registers: see integer_product/avx_vnni_product.h.
#pragma once

#include "integer_product/avx_vnni_product.h"
#include "level_table_product/avx2_product.h"

namespace pocketmt {
namespace {

constexpr LevelTableProduct avx_vnni_level_table_product = {LevelPanels::packed_bytes, LevelPanels::pack,
                                                            LevelPanels::unpack_row, LevelPanels::gather,
                                                            multiply_levels<OffsetBytes>};

}  // namespace
}  // namespace pocketmt
