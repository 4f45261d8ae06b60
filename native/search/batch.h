// Translation of one batch by one worker.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/network.h"
#include "model/workspace.h"
#include "search/sentence_search.h"

namespace pocketmt {

// The translations of each source (ids without eos), best first. A sentence's result does not depend on the others.
// Throws Error where the network's logits are not finite numbers.
std::vector<std::vector<Translation>> translate_batch(const Network& network, Workspace& workspace,
                                                      std::span<const std::span<const uint32_t>> sources,
                                                      const SearchOptions& options, Monitor& monitor);

// Logits [target.size() + 1, V] of every next token after bos and `target`; what is never generated is not masked.
std::vector<float> forced_logits(const Network& network, Workspace& workspace, std::span<const uint32_t> source,
                                 std::span<const uint32_t> target, Monitor& monitor);

// Bytes that decoding a sentence holds, taking its translation to be as long as itself.
size_t state_bytes(const Network& network, std::span<const uint32_t> source, const SearchOptions& options);

}  // namespace pocketmt
