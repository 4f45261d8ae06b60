#include "search/batches.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "model/runtime/error.h"

namespace pocketmt {

namespace {

// Most decoder rows of a batch. A larger one is hardly faster.
constexpr size_t max_rows = 256;
// Bytes of keys, values and rows of the output matrix, which each step reads. Caches near a core hold near_bytes; a
// batch of more bytes has at most Kernels::batch_rows rows, of bytes_of_row each on average.
constexpr size_t near_bytes = size_t{4} << 20;
constexpr size_t bytes_of_row = (size_t{4} << 20) / 3;

// What a sentence takes of a batch.
struct Cost {
    size_t bytes;  // of its state
    size_t rows;
};

// Ends of batches, as large as the limits allow; a small rest joins the batch before. most_rows: of a batch.
// enough_rows: Kernels::batch_rows.
std::vector<size_t> cut_by_limits(const std::vector<Cost>& sentences, size_t most_rows, size_t enough_rows) {
    std::vector<size_t> ends;
    size_t bytes = 0, rows = 0, rows_before = 0;
    for (size_t i = 0; i < sentences.size(); ++i) {
        bytes += sentences[i].bytes;
        bool full = rows + sentences[i].rows > most_rows || bytes > enough_rows * bytes_of_row ||
                    (rows >= enough_rows && bytes > near_bytes);
        if (rows > 0 && full) {
            ends.push_back(i);
            bytes = sentences[i].bytes;
            rows_before = rows;
            rows = 0;
        }
        rows += sentences[i].rows;
    }
    // The weights are read for each batch, however few rows it has.
    if (!ends.empty() && 2 * rows <= rows_before && rows + rows_before <= most_rows) ends.pop_back();
    if (rows > 0) ends.push_back(sentences.size());
    return ends;
}

// Ends of `batches` batches of about equal bytes, or of a few more if one would have too many rows.
std::vector<size_t> cut_evenly(const std::vector<Cost>& sentences, size_t most_rows, size_t batches) {
    size_t total = 0;
    for (const Cost& cost : sentences) total += cost.bytes;
    std::vector<size_t> ends;
    size_t bytes = 0, rows = 0, shares = 1;
    for (size_t i = 0; i < sentences.size(); ++i) {
        bytes += sentences[i].bytes;
        rows += sentences[i].rows;
        const bool share = bytes >= total * shares / batches;
        const bool last = i + 1 == sentences.size();
        if (!share && !last && rows + sentences[i + 1].rows <= most_rows) continue;
        ends.push_back(i + 1);
        rows = 0;
        while (shares < batches && bytes >= total * shares / batches) ++shares;
    }
    return ends;
}

void check_generated(const char* name, std::span<const uint32_t> tokens, const Architecture& architecture) {
    check_tokens(tokens, architecture.vocabulary_size);
    for (uint32_t token : tokens) {
        if (architecture.special_ids.contain(token))
            throw Error(std::string(name) + " has the special id " + std::to_string(token));
    }
}

void check_request(const Request& request, const SearchOptions& options, const Architecture& architecture) {
    check_source(request.source, architecture);
    check_generated("a prefix", request.prefix, architecture);
    for (const Term& term : request.terms) {
        if (term.pieces.empty()) throw Error("a term is empty");
        check_generated("a term", term.pieces, architecture);
    }
    if (!request.terms.empty() && options.sampling) throw Error("terms need a beam search: leave sampling out");
    const size_t needed = request.prefix.size() + count_pieces(request.terms);
    if (needed > 0 && options.max_length && needed >= *options.max_length) {
        throw Error("max_length is " + std::to_string(*options.max_length) + ", it must be more than the " +
                    std::to_string(needed) + " pieces of a prefix" +
                    (request.terms.empty() ? "" : " and of the terms of its sentence"));
    }
}

}  // namespace

void check_tokens(std::span<const uint32_t> tokens, size_t vocabulary_size) {
    for (uint32_t token : tokens) {
        if (token >= vocabulary_size) {
            throw Error("token id " + std::to_string(token) + " is not in the vocabulary of " +
                        std::to_string(vocabulary_size) + " pieces");
        }
    }
}

void check_source(std::span<const uint32_t> source, const Architecture& architecture) {
    check_tokens(source, architecture.source_vocabulary_size);
    if (architecture.source_positions(source.size()) == 0)
        throw Error("a source is empty, and this model does not append the end of a sentence to it");
}

Batches::Batches(const Ensemble& ensemble, std::span<const Request> requests, const SearchOptions& options,
                 size_t workers, bool divide)
    : order_(requests.size()) {
    check(options, ensemble.architecture());
    for (const Request& request : requests) check_request(request, options, ensemble.architecture());
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(), [&](uint32_t left, uint32_t right) {
        return requests[left].source.size() > requests[right].source.size();
    });
    std::vector<Cost> costs;
    for (uint32_t sentence : order_) {
        const Request& request = requests[sentence];
        costs.push_back({state_bytes(ensemble, request, options), beam_size(options, request)});
    }
    size_t most_rows = max_rows;
    if (options.batch_size > 0 && options.batch_size < max_rows / options.beam_size)
        most_rows = options.batch_size * options.beam_size;
    ends_ = cut_by_limits(costs, most_rows, ensemble.kernels().batch_rows);
    // Every worker gets equally many batches, of about equal bytes.
    if (workers > 1 && (divide || ends_.size() > 1))
        ends_ = cut_evenly(costs, most_rows, round_up(ends_.size(), workers));
}

}  // namespace pocketmt
