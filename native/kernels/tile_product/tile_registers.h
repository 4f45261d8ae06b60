// The tile registers of Intel AMX: eight of at most 16 rows of 64 bytes, and the product of two of them.
//
// The functions are assembly because GCC 12's intrinsics do not say that they read memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shapes.h"

namespace pocketmt {
namespace {

constexpr size_t tile_rows = 16;       // Most rows of activations of a tile; outputs of a tile of weights.
constexpr size_t tile_row_bytes = 64;  // Activations of a row, and the weights of 16 outputs and 4 inputs.
constexpr size_t tile_inputs = 64;

// Sets the shapes of this thread's tiles as long as it lives: tiles 0 to 3 hold sums, 4 and 5 activations, each of
// `height` rows; 6 and 7 hold weights. The tiles are released afterwards, so that they need not be saved when the
// operating system switches to another thread.
class TileShapes {
  public:
    explicit TileShapes(size_t height) {
        // Intel SDM, volume 2, LDTILECFG.
        struct alignas(64) {
            uint8_t palette = 1;
            uint8_t start_row = 0;
            uint8_t reserved[14] = {};
            uint16_t row_bytes[16] = {};
            uint8_t rows[16] = {};
        } shapes;
        for (size_t tile = 0; tile < 8; ++tile) {
            shapes.row_bytes[tile] = tile_row_bytes;
            shapes.rows[tile] = static_cast<uint8_t>(tile < first_weights ? height : tile_rows);
        }
        __asm__ volatile("ldtilecfg %0" : : "m"(shapes) : "memory");
    }
    ~TileShapes() { __asm__ volatile("tilerelease"); }
    TileShapes(const TileShapes&) = delete;
    TileShapes& operator=(const TileShapes&) = delete;

  private:
    static constexpr size_t first_weights = 6;
};

template <int tile>
POCKETMT_INLINE void clear_tile() {
    __asm__ volatile("tilezero %%tmm%c0" : : "i"(tile));
}
POCKETMT_INLINE void clear_sums() {
    clear_tile<0>();
    clear_tile<1>();
    clear_tile<2>();
    clear_tile<3>();
}
// `stride` bytes from row to row.
template <int tile>
POCKETMT_INLINE void load_tile(const void* from, size_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(tile) : "memory");
}
template <int tile>
POCKETMT_INLINE void store_tile(void* to, size_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(tile) : "memory");
}
// Adds the products of signed activations and unsigned weights to the sums.
template <int sums, int activations, int weights>
POCKETMT_INLINE void multiply_add_tiles() {
    __asm__ volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sums), "i"(activations), "i"(weights));
}

}  // namespace
}  // namespace pocketmt
