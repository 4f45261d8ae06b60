// Random choice of the next piece (Holtzman et al. 2020, sections 3.1 and 4, for top_p and top_k).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/options.h"

namespace pocketmt {

// The first number of a sample's random sequence. It depends on the sentence's tokens, not on its place among others.
uint64_t sample_key(uint64_t seed, std::span<const uint32_t> source, size_t sample);

// A number from 0 to 1, 1 excluded, for a step of a sample.
double sample_number(uint64_t key, size_t step);

class Sampler {
  public:
    explicit Sampler(const Sampling& sampling) : sampling_(sampling) {}

    // The index of the chosen logit, for a random number `draw`; logits of -inf have no probability. None if all have
    // none. Throws Error if a logit is NaN or +inf.
    std::optional<uint32_t> choose(const float* logits, size_t size, double draw);

  private:
    struct Candidate {
        float logit;
        uint32_t index;
        double probability;
    };

    void rank();

    Sampling sampling_;
    std::vector<Candidate> candidates_;
};

}  // namespace pocketmt
