#include "model/network.h"

namespace pocketmt {

Network::Network(const Kernels& kernels, const Description& description, const TensorSource& source,
                 unsigned activation_bits, const StoredShortlist& stored)
    : layers_(load(kernels, description, source, activation_bits)), shortlist_(stored, architecture()) {}

Network::Layers Network::load(const Kernels& kernels, const Description& description, const TensorSource& source,
                              unsigned activation_bits) {
    if (const auto* lstm = std::get_if<LstmArchitecture>(&description)) return Lstm(kernels, *lstm, source);
    return Transformer(kernels, std::get<TransformerArchitecture>(description), source, activation_bits);
}

}  // namespace pocketmt
