#include "model/code_attention.h"

namespace pocketmt {

CodeAttention::CodeAttention(const Network& network, Workspace& workspace, const AttentionGrids& grids, size_t heads,
                             size_t positions)
    : network_(network),
      grids_(grids),
      heads_(heads),
      positions_(positions),
      keys_(workspace.key_codes.ensure(positions)),
      values_(workspace.value_codes.ensure(positions)) {
    size_t head_size = network.architecture.head_size, padded = round_up(positions, activation_alignment);
    scratch_ = {workspace.scores.ensure(padded + head_size),
                workspace.weight_codes.ensure(padded + round_up(head_size, activation_alignment)),
                workspace.column_sums.ensure(2 * head_size)};
}

void CodeAttention::set_positions(const int8_t* codes) {
    size_t a = heads_ * network_.architecture.head_size;
    for (size_t position = 0; position < positions_; ++position)
        set_position(position, codes + position * a, codes + (positions_ + position) * a);
}

void CodeAttention::attend(const float* query, float* out) const {
    network_.kernels.grid.attend(grids_, query, keys_, values_, positions_, heads_, network_.architecture.head_size,
                                 scratch_, out);
}

void code_keys_and_values(const Network& network, const AttentionGrids& grids, size_t a, const float* projected,
                          size_t stride, size_t count, int8_t* codes) {
    network.kernels.grid.codes(grids.key, projected, stride, count, a, codes, a);
    network.kernels.grid.codes(grids.value, projected + a, stride, count, a, codes + count * a, a);
}

}  // namespace pocketmt
