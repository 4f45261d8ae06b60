#include "model/selected_output.h"

#include <utility>

namespace pocketmt {

SelectedOutput::SelectedOutput(const Network& network, std::vector<uint32_t> pieces, Buffer<std::byte>& memory)
    : pieces_(std::move(pieces)), matrix_(network.weights.embedding.gather(pieces_, memory)) {
    const std::vector<float>& bias = network.weights.output_bias;
    if (bias.empty()) return;
    for (uint32_t piece : pieces_) bias_.push_back(bias[piece]);
}

}  // namespace pocketmt
