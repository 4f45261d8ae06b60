// Translation of a batch by one worker.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/ensemble.h"
#include "search/sentence_search.h"

namespace pocketmt {

// The translations of each request, best first. A sentence's result does not depend on the others. Throws Error if a
// network's logits are not finite numbers.
std::vector<std::vector<Translation>> translate_batch(const Ensemble& ensemble, EnsembleWorkspace& workspace,
                                                      std::span<const Request* const> requests,
                                                      const SearchOptions& options, Monitor& monitor);

// Logits [target.size() + 1, V] after the decoder's first input and each token of `target` (teacher forcing). Pieces
// that are never generated are not masked. Of several networks, the mean of their log-probabilities.
std::vector<float> forced_logits(const Ensemble& ensemble, EnsembleWorkspace& workspace,
                                 std::span<const uint32_t> source, std::span<const uint32_t> target, Monitor& monitor);

// Bytes that decoding a sentence needs if its translation is as long as the sentence.
size_t state_bytes(const Ensemble& ensemble, const Request& request, const SearchOptions& options);

}  // namespace pocketmt
