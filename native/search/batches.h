// Checked requests, ordered by length and divided into batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/batch.h"

namespace pocketmt {

// Throws Error if a token id is out of range.
void check_tokens(std::span<const uint32_t> tokens, size_t vocabulary_size);
// Throws Error if a token id is out of range, or nothing could be encoded.
void check_source(std::span<const uint32_t> source, const Architecture& architecture);

class Batches {
  public:
    // divide: whether what fits in one batch is divided among the workers, too. Throws Error if an option or a token id
    // is out of range.
    Batches(const Ensemble& ensemble, std::span<const Request> requests, const SearchOptions& options, size_t workers,
            bool divide);

    size_t size() const { return ends_.size(); }
    // Indices of the requests of a batch, the longest first.
    std::span<const uint32_t> operator[](size_t batch) const {
        const size_t first = batch == 0 ? 0 : ends_[batch - 1];
        return std::span(order_).subspan(first, ends_[batch] - first);
    }

  private:
    std::vector<uint32_t> order_;
    std::vector<size_t> ends_;  // in order_
};

}  // namespace pocketmt
