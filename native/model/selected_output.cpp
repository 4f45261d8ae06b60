#include "model/selected_output.h"

#include <utility>

#include "model/layers.h"

namespace pocketmt {

SelectedOutput::SelectedOutput(const Network& network, std::vector<uint32_t> pieces, Buffer<std::byte>& memory)
    : pieces_(std::move(pieces)), matrix_(network.weights.embedding.gather(pieces_, memory)) {
    const std::vector<float>& bias = network.weights.output_bias;
    if (bias.empty()) return;
    for (uint32_t piece : pieces_) bias_.push_back(bias[piece]);
}

void SelectedOutput::project(const Network& network, Workspace& workspace, const float* decoded, size_t count,
                             float* logits, size_t stride) const {
    Activations activations = output_activations(network, workspace, decoded, count);
    matrix_.multiply(activations, {bias_.empty() ? nullptr : bias_.data()}, logits, stride);
}

}  // namespace pocketmt
