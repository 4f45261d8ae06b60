#include "search/options.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/runtime/error.h"

namespace pocketmt {

namespace {

void check_beam(const SearchOptions& options, const Architecture& architecture) {
    // Pieces that can be generated, without eos.
    const size_t pieces = architecture.vocabulary_size - architecture.never_generated(false).size() - 1;
    const size_t most = std::min(max_beam_size, pieces);
    if (options.beam_size < 1 || options.beam_size > most) {
        throw Error("beam_size is " + std::to_string(options.beam_size) + ", it must be 1 to " + std::to_string(most));
    }
    if (options.n_best < 1 || options.n_best > options.beam_size) {
        throw Error("n_best is " + std::to_string(options.n_best) + ", it must be 1 to beam_size (" +
                    std::to_string(options.beam_size) + ")");
    }
}

void check_sampling(const Sampling& sampling) {
    if (!std::isfinite(sampling.temperature) || sampling.temperature <= 0.0)
        throw Error("temperature must be a finite number greater than 0");
    if (!(sampling.top_p > 0.0 && sampling.top_p <= 1.0)) throw Error("top_p must be greater than 0 and at most 1");
}

void check_suppressed(const std::vector<uint32_t>& sequence, const Architecture& architecture) {
    if (sequence.empty()) throw Error("a suppressed sequence is empty");
    for (uint32_t piece : sequence) {
        if (piece >= architecture.vocabulary_size || architecture.special_ids.contain(piece))
            throw Error("a suppressed sequence has the id " + std::to_string(piece) + ", it must be below " +
                        std::to_string(architecture.vocabulary_size) + " and of no special piece");
    }
}

}  // namespace

void check(const SearchOptions& options, const Architecture& architecture) {
    check_beam(options, architecture);
    // Beyond it, scores of long translations would be infinite or 0.
    if (!(std::abs(options.length_penalty) <= 10.0)) throw Error("length_penalty must be from -10 to 10");
    if (!(options.repetition_penalty >= 0.01 && options.repetition_penalty <= 100.0))
        throw Error("repetition_penalty must be from 0.01 to 100");
    if (options.repeat_limit == 1) throw Error("repeat_limit must be 0 or at least 2");
    if (options.max_length && *options.max_length < 1) throw Error("max_length must be at least 1");
    if (options.sampling) check_sampling(*options.sampling);
    for (const std::vector<uint32_t>& sequence : options.suppressed_sequences) check_suppressed(sequence, architecture);
    if (!std::ranges::is_sorted(options.word_continuations)) throw Error("word_continuations must be ascending");
    if (options.suppressed_texts && options.suppressed_texts->vocabulary_size() != architecture.vocabulary_size)
        throw Error("suppressed texts were made for another vocabulary");
}

}  // namespace pocketmt
