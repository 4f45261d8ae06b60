#include "model/transformer/code_attention.h"

namespace pocketmt {

CodeAttention::CodeAttention(const NetworkBase& network, Workspace& workspace,
                             const AttentionQuantization& quantization, size_t heads, size_t positions)
    : network_(network),
      quantization_(quantization),
      heads_(heads),
      positions_(positions),
      keys_(workspace.key_codes.ensure(positions)),
      values_(workspace.value_codes.ensure(positions)) {
    size_t head_size = network.architecture.head_size(), padded = round_up(positions, activation_alignment);
    scratch_ = {workspace.scores.ensure(padded + head_size),
                workspace.weight_codes.ensure(padded + round_up(head_size, activation_alignment)),
                workspace.column_sums.ensure(2 * head_size)};
}

void CodeAttention::set_positions(const int8_t* codes) {
    size_t a = heads_ * network_.architecture.head_size();
    for (size_t position = 0; position < positions_; ++position)
        set_position(position, codes + position * a, codes + (positions_ + position) * a);
}

void CodeAttention::attend(const float* query, float* out) const {
    network_.kernels.fake_quantization.attend(quantization_, query, keys_, values_, positions_, heads_,
                                              network_.architecture.head_size(), scratch_, out);
}

void quantize_keys_and_values(const NetworkBase& network, const AttentionQuantization& quantization, size_t a,
                              const float* projected, size_t stride, size_t count, int8_t* codes) {
    const FakeQuantizationFunctions& functions = network.kernels.fake_quantization;
    functions.quantize(quantization.key, projected, stride, count, a, codes, a);
    functions.quantize(quantization.value, projected + a, stride, count, a, codes + count * a, a);
}

}  // namespace pocketmt
