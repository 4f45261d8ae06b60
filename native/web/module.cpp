// The functions that the WebAssembly module exports: one model, and one translation at a time. web/source/engine.ts
// calls them.
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/kernels.h"
#include "model/ensemble.h"
#include "model/runtime/error.h"
#include "search/batches.h"
#include "web/description.h"
#include "web/host.h"

namespace pocketmt::web {

namespace {

struct Model {
    Ensemble ensemble;
    EnsembleWorkspace workspace;

    Model(const Description& description, const TensorSource& source, unsigned activation_bits,
          const StoredShortlist& shortlist)
        : ensemble({std::make_shared<Network>(best_kernels(), description, source, activation_bits, shortlist)}),
          workspace(ensemble.make_workspace()) {}
};

// Sentences that are translated batch by batch, so that the host can do other work in between.
struct Work {
    std::vector<Request> requests;
    SearchOptions options;
    Batches batches;
    size_t done = 0;
    std::vector<std::vector<uint32_t>> translations;
    std::vector<uint32_t> result;

    Work(const Ensemble& ensemble, std::vector<Request> given, const SearchOptions& chosen)
        : requests(std::move(given)),
          options(chosen),
          batches(ensemble, requests, options, 1, false),
          translations(requests.size()) {}
};

std::unique_ptr<Model> model;
std::unique_ptr<Work> work;

// The bytes of a tensor that the host has.
TensorSource::Decoded fetch(const ModelDescription& description, const std::string& name) {
    auto bytes = std::make_shared<Buffer<std::byte>>();
    const size_t size = description.file.tensors.at(name).size;
    copy_tensor(description.places.at(name), bytes->ensure(size));
    return {bytes, {bytes->data(), size}};
}

// Requests from words: of each the number of ids that its translation begins with, these, the number of ids of the
// source, these.
std::vector<Request> read_requests(const uint32_t* words, size_t count) {
    std::vector<Request> requests(count);
    const auto take = [&words](std::vector<uint32_t>& ids) {
        const size_t size = *words++;
        ids.assign(words, words + size);
        words += size;
    };
    for (Request& request : requests) {
        take(request.prefix);
        take(request.source);
    }
    return requests;
}

}  // namespace

extern "C" {

__attribute__((export_name("allocate"))) void* allocate_bytes(size_t bytes) {
    return allocate(bytes);
}

__attribute__((export_name("release"))) void release_bytes(void* memory, size_t bytes) {
    release(memory, bytes);
}

__attribute__((export_name("instruction_set"))) const char* instruction_set() {
    return best_kernels().name;
}

// Compares every kernel with its reference. Models are loaded without this: WebAssembly defines each instruction's
// bits, and the host has tried the one of relaxed SIMD that it does not.
__attribute__((export_name("check"))) void check() {
    check_kernels(best_kernels());
}

// Packs a model.
//   description      text, see description.h
//   stored           the bytes of the tensors that are described as stored
//   shortlist        decompressed; none if its size is 0
__attribute__((export_name("load"))) void load(const char* description, size_t description_size,
                                               const std::byte* stored, size_t stored_size, const std::byte* shortlist,
                                               size_t shortlist_size) {
    const ModelDescription described = read_description({description, description_size});
    const TensorSource source({stored, stored_size}, described.file, {},
                              [&described](const std::string& name) { return fetch(described, name); });
    model = std::make_unique<Model>(describe_network(described.architecture), source, described.activation_bits,
                                    StoredShortlist{{shortlist, shortlist_size}, described.frequent});
}

// Starts the translation of `count` sentences, see read_requests; returns the number of batches.
//   max_length  0: the engine's default
//   batch_size  most sentences of a batch; 0: as many as the engine finds best
__attribute__((export_name("submit"))) size_t submit(const uint32_t* words, size_t count, size_t beam_size,
                                                     double length_penalty, size_t max_length, uint32_t shortlist,
                                                     size_t batch_size) {
    SearchOptions options;
    options.beam_size = beam_size;
    options.length_penalty = length_penalty;
    if (max_length > 0) options.max_length = max_length;
    options.shortlist = shortlist != 0;
    options.scores = false;
    options.batch_size = batch_size;
    work = std::make_unique<Work>(model->ensemble, read_requests(words, count), options);
    return work->batches.size();
}

// Translates the next batch; returns how many are left.
__attribute__((export_name("translate_batch"))) size_t translate_next() {
    const std::span<const uint32_t> sentences = work->batches[work->done];
    std::vector<const Request*> requests;
    for (const uint32_t sentence : sentences) requests.push_back(&work->requests[sentence]);
    const std::atomic<bool> cancelled = false;
    Monitor monitor(cancelled, {});
    auto translations = translate_batch(model->ensemble, model->workspace, requests, work->options, monitor);
    for (size_t i = 0; i < sentences.size(); ++i)
        work->translations[sentences[i]] = std::move(translations[i].front().tokens);
    model->workspace.reset();
    return work->batches.size() - ++work->done;
}

// The translations, when all batches are done: of each sentence the number of its ids, then these. Valid until
// `finish`.
__attribute__((export_name("result"))) const uint32_t* result() {
    work->result.clear();
    for (const std::vector<uint32_t>& ids : work->translations) {
        work->result.push_back(static_cast<uint32_t>(ids.size()));
        work->result.insert(work->result.end(), ids.begin(), ids.end());
    }
    return work->result.data();
}

// Ends a translation, done or not.
__attribute__((export_name("finish"))) void finish() {
    work.reset();
}

}  // extern "C"

}  // namespace pocketmt::web
