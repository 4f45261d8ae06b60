// The Python module pocketmt.engine._native. Its signatures are in src/pocketmt/engine/_native.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernels.h"
#include "model/runtime/error.h"
#include "python/interpreter_lock.h"
#include "python/loading.h"

namespace nb = nanobind;
using namespace pocketmt;

namespace {

using Tokens = std::vector<uint32_t>;
using Results = std::vector<std::vector<Translation>>;

std::vector<std::string> supported_names() {
    std::vector<std::string> names;
    for (const Kernels* each : supported_kernels()) names.emplace_back(each->name);
    return names;
}

// Runs Python's signal handlers in the main thread, so that Ctrl-C ends a long translation.
void poll_signals() {
    if (kept_from_python()) throw Cancelled();  // Others may need the worker.
    WithInterpreterLock python;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

nb::object to_python(const Translation& translation, bool details) {
    if (!details) return nb::make_tuple(nb::cast(translation.tokens), translation.score);
    nb::list attention;
    for (const std::shared_ptr<const float[]>& row : translation.attention)
        attention.append(nb::cast(std::vector<float>(row.get(), row.get() + translation.source_positions)));
    return nb::make_tuple(nb::cast(translation.tokens), translation.score, nb::cast(translation.token_scores),
                          attention);
}

nb::list to_python(const Results& results, bool details) {
    nb::list sentences;
    for (const std::vector<Translation>& translations : results) {
        nb::list hypotheses;
        for (const Translation& translation : translations) hypotheses.append(to_python(translation, details));
        sentences.append(std::move(hypotheses));
    }
    return sentences;
}

// Pieces of a term, and whether it ends its word.
using PythonTerm = std::tuple<Tokens, bool>;

void check_count(const char* name, size_t count, size_t sources) {
    if (count > 0 && count != sources)
        throw Error("there are " + std::to_string(count) + " " + name + " of " + std::to_string(sources) + " sources");
}

// Of prefixes and terms each: one of each source, or nothing.
std::vector<Request> make_requests(std::vector<Tokens> sources, std::vector<Tokens> prefixes,
                                   std::vector<std::vector<PythonTerm>> terms) {
    check_count("prefixes", prefixes.size(), sources.size());
    check_count("lists of terms", terms.size(), sources.size());
    prefixes.resize(sources.size());
    terms.resize(sources.size());
    std::vector<Request> requests;
    for (size_t i = 0; i < sources.size(); ++i) {
        Request& request = requests.emplace_back(Request{std::move(sources[i]), std::move(prefixes[i]), {}});
        for (auto& [pieces, ends_word] : terms[i]) request.terms.push_back({std::move(pieces), ends_word});
    }
    return requests;
}

// A translation that runs or waits; cancelled when nothing refers to it any more.
class Pending {
  public:
    Pending(std::shared_ptr<Engine> engine, std::vector<Request> requests, const SearchOptions& options)
        : engine_(std::move(engine)), job_(engine_->submit(std::move(requests), options)) {}
    ~Pending() { cancel(); }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;

    nb::list result() { return to_python(finish(), false); }
    nb::list details() { return to_python(finish(), true); }
    void begin() { engine_->begin(job_); }
    // May be called while another thread waits for the result.
    void cancel() { job_->cancel(); }

  private:
    Results finish() {
        if (taken_) throw Error("the result of this translation has already been taken");
        taken_ = true;
        WithoutInterpreterLock no_python;
        return engine_->finish(job_, poll_signals);
    }

    std::shared_ptr<Engine> engine_;
    std::shared_ptr<Job> job_;
    bool taken_ = false;
};

std::shared_ptr<Engine> make_ensemble(const std::vector<std::shared_ptr<Engine>>& models, size_t workers,
                                      bool pin_workers) {
    std::vector<std::shared_ptr<const Network>> networks;
    for (const std::shared_ptr<Engine>& model : models) {
        if (!model) throw nb::type_error("models must not be None");
        const auto own = model->ensemble().networks();
        networks.insert(networks.end(), own.begin(), own.end());
    }
    return std::make_shared<Engine>(Ensemble(std::move(networks)), workers, pin_workers);
}

nb::bytes logits(Engine& engine, const Tokens& source, const Tokens& target) {
    std::vector<float> values;
    {
        WithoutInterpreterLock no_python;
        values = engine.logits(source, target, poll_signals);
    }
    return nb::bytes(values.data(), values.size() * sizeof(float));
}

void set_error(const char* type, const std::exception& error, const char* module = "pocketmt.errors") {
    nb::object errors = nb::module_::import_(module);
    PyErr_SetString(nb::object(errors.attr(type)).ptr(), error.what());
}

void translate_error(const std::exception_ptr& pointer, void*) {
    try {
        std::rethrow_exception(pointer);
    } catch (const Error& error) {
        set_error("EngineError", error);
    } catch (const ModelError& error) {
        set_error("ModelFileError", error);
    } catch (const Cancelled& error) {
        set_error("CancelledError", error, "concurrent.futures");
    }
}

std::vector<std::string> to_strings(const std::vector<nb::bytes>& values) {
    std::vector<std::string> strings;
    for (const nb::bytes& value : values) strings.emplace_back(value.c_str(), value.size());
    return strings;
}

std::optional<Sampling> make_sampling(const std::optional<std::tuple<double, size_t, double, uint64_t>>& values) {
    if (!values) return std::nullopt;
    const auto [temperature, top_k, top_p, seed] = *values;
    return Sampling{temperature, top_k, top_p, seed};
}

std::shared_ptr<SuppressedTexts> make_suppressed_texts(const std::vector<nb::bytes>& surfaces,
                                                       const std::vector<nb::bytes>& texts, const nb::bytes& before) {
    std::vector<std::string> pieces = to_strings(surfaces), suppressed = to_strings(texts);
    std::string first(before.c_str(), before.size());
    WithoutInterpreterLock no_python;
    return std::make_shared<SuppressedTexts>(std::move(pieces), suppressed, std::move(first));
}

void bind_options(nb::module_& module) {
    module.attr("max_beam_size") = max_beam_size;
    nb::class_<SuppressedTexts>(module, "SuppressedTexts")
        .def(nb::new_(&make_suppressed_texts), nb::arg("surfaces"), nb::arg("texts"), nb::arg("before"));
    nb::class_<SearchOptions>(module, "SearchOptions")
        .def(nb::new_([](size_t beam_size, size_t n_best, double length_penalty, std::optional<size_t> max_length,
                         size_t min_length, bool scores, bool shortlist, bool token_scores, bool attention,
                         bool unknown, double repetition_penalty, size_t no_repeat_ngram, size_t repeat_limit,
                         std::vector<Tokens> suppressed_sequences, std::shared_ptr<SuppressedTexts> suppressed_texts,
                         std::vector<uint32_t> word_continuations,
                         const std::optional<std::tuple<double, size_t, double, uint64_t>>& sampling, size_t batch_size,
                         bool parallel) {
                 return SearchOptions{beam_size,
                                      n_best,
                                      length_penalty,
                                      max_length,
                                      min_length,
                                      shortlist,
                                      scores,
                                      token_scores,
                                      attention,
                                      unknown,
                                      repetition_penalty,
                                      no_repeat_ngram,
                                      repeat_limit,
                                      std::move(suppressed_sequences),
                                      std::move(suppressed_texts),
                                      std::move(word_continuations),
                                      make_sampling(sampling),
                                      batch_size,
                                      parallel};
             }),
             nb::kw_only(), nb::arg("beam_size"), nb::arg("n_best"), nb::arg("length_penalty"),
             nb::arg("max_length").none(), nb::arg("min_length"), nb::arg("scores"), nb::arg("shortlist") = true,
             nb::arg("token_scores") = false, nb::arg("attention") = false, nb::arg("unknown") = false,
             nb::arg("repetition_penalty") = 1.0, nb::arg("no_repeat_ngram") = 0, nb::arg("repeat_limit") = 0,
             nb::arg("suppressed_sequences") = std::vector<Tokens>{}, nb::arg("suppressed_texts") = nb::none(),
             nb::arg("word_continuations") = Tokens{}, nb::arg("sampling") = nb::none(), nb::arg("batch_size") = 0,
             nb::arg("parallel") = true);
}

}  // namespace

NB_MODULE(_native, module) {
    // Python may end while a thread translates, whose objects are never freed then.
    nb::set_leak_warnings(false);
    nb::register_exception_translator(translate_error);
    module.def("instruction_sets", &supported_names);
    module.def("keep_threads_from_python", &keep_threads_from_python);
    bind_options(module);
    nb::class_<Pending>(module, "Pending")
        .def("result", &Pending::result)
        .def("details", &Pending::details)
        .def("begin", &Pending::begin)
        .def("cancel", &Pending::cancel);
    nb::class_<Engine>(module, "Model")
        .def(nb::new_(&load), nb::kw_only(), nb::arg("buffer"), nb::arg("architecture"), nb::arg("tensors"),
             nb::arg("matrices"), nb::arg("release").none(), nb::arg("instruction_set").none(), nb::arg("workers"),
             nb::arg("pin_workers") = false, nb::arg("decoders") = std::unordered_map<std::string, nb::callable>{},
             nb::arg("deflated") = std::vector<std::string>{},
             nb::arg("vector_groups") = std::vector<PythonVectorGroup>{},
             nb::arg("logarithmic_activations") = nb::none(), nb::arg("activation_bits") = 0,
             nb::arg("shortlist") = nb::none(), nb::arg("frequent_pieces") = 0)
        .def_static("ensemble", &make_ensemble, nb::arg("models"), nb::kw_only(), nb::arg("workers"),
                    nb::arg("pin_workers") = false)
        .def_prop_ro("instruction_set", [](const Engine& engine) { return engine.ensemble().kernels().name; })
        .def(
            "submit",
            [](std::shared_ptr<Engine> engine, std::vector<Tokens> sources, const SearchOptions& options,
               std::vector<Tokens> prefixes, std::vector<std::vector<PythonTerm>> terms) {
                return new Pending(std::move(engine),
                                   make_requests(std::move(sources), std::move(prefixes), std::move(terms)), options);
            },
            nb::arg("sources"), nb::arg("options"), nb::arg("prefixes") = std::vector<Tokens>{},
            nb::arg("terms") = std::vector<std::vector<PythonTerm>>{})
        .def(
            "translate",
            [](std::shared_ptr<Engine> engine, std::vector<Tokens> sources, const SearchOptions& options) {
                return Pending(std::move(engine), make_requests(std::move(sources), {}, {}), options).result();
            },
            nb::arg("sources"), nb::arg("options"))
        .def("logits", &logits, nb::arg("source"), nb::arg("target"));
}
