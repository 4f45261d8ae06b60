#include "model/output/selected_output.h"

#include <utility>

namespace pocketmt {

SelectedOutput::SelectedOutput(const OutputLayer& whole, std::vector<uint32_t> pieces, Buffer<std::byte>& memory)
    : pieces_(std::move(pieces)), matrix_(whole.matrix.gather(pieces_, memory)) {
    if (whole.bias == nullptr) return;
    for (uint32_t piece : pieces_) bias_.push_back(whole.bias[piece]);
}

}  // namespace pocketmt
