#include "search/pieces/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/runtime/error.h"
#include "search/pieces/not_finite.h"

namespace pocketmt {

namespace {

// The finalizer of SplitMix64 (Steele et al. 2014, section 4), which spreads every bit of its input over the output.
uint64_t mix(uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

}  // namespace

uint64_t sample_key(uint64_t seed, std::span<const uint32_t> source, size_t sample) {
    uint64_t key = mix(seed);
    for (uint32_t token : source) key = mix(key ^ token);
    return mix(key ^ mix(sample));
}

double sample_number(uint64_t key, size_t step) {
    return static_cast<double>(mix(key ^ mix(step)) >> 11) * 0x1p-53;
}

std::optional<uint32_t> Sampler::choose(const float* logits, size_t size, double draw) {
    candidates_.clear();
    float greatest = -std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < size; ++i) {
        if (logits[i] == -std::numeric_limits<float>::infinity()) continue;
        if (!std::isfinite(logits[i])) throw Error(not_finite);
        greatest = std::max(greatest, logits[i]);
        candidates_.push_back({logits[i], static_cast<uint32_t>(i), 0.0});
    }
    if (candidates_.empty()) return std::nullopt;
    if (sampling_.top_k > 0 || sampling_.top_p < 1.0) rank();
    double total = 0.0;
    for (Candidate& candidate : candidates_) {
        candidate.probability =
            std::exp((static_cast<double>(candidate.logit) - static_cast<double>(greatest)) / sampling_.temperature);
        total += candidate.probability;
    }
    if (sampling_.top_p < 1.0) {
        double sum = 0.0;
        size_t kept = 0;
        while (kept < candidates_.size() && sum < sampling_.top_p * total) sum += candidates_[kept++].probability;
        candidates_.resize(kept);
        total = sum;
    }
    double rest = draw * total;
    for (const Candidate& candidate : candidates_) {
        rest -= candidate.probability;
        if (rest < 0.0) return candidate.index;
    }
    return candidates_.back().index;
}

// Sorts the candidates from the greatest logit on, and keeps the first top_k.
void Sampler::rank() {
    const auto better = [](const Candidate& left, const Candidate& right) {
        return left.logit != right.logit ? left.logit > right.logit : left.index < right.index;
    };
    size_t kept = candidates_.size();
    if (sampling_.top_k > 0) kept = std::min(kept, sampling_.top_k);
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(kept), candidates_.end(),
                      better);
    candidates_.resize(kept);
}

}  // namespace pocketmt
