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
    nb::gil_scoped_acquire python;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

nb::list to_python(const Results& results) {
    nb::list sentences;
    for (const std::vector<Translation>& translations : results) {
        nb::list hypotheses;
        for (const Translation& translation : translations) {
            hypotheses.append(nb::make_tuple(nb::cast(translation.tokens), translation.score));
        }
        sentences.append(std::move(hypotheses));
    }
    return sentences;
}

// A running translation; cancelled when nothing refers to it any more.
class Pending {
  public:
    Pending(std::shared_ptr<Engine> engine, std::vector<Tokens> sources, const SearchOptions& options)
        : engine_(std::move(engine)), job_(engine_->submit(std::move(sources), options)) {}
    ~Pending() {
        if (job_) job_->cancel();
    }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;

    nb::list result() {
        std::shared_ptr<Job> job = std::exchange(job_, nullptr);
        if (!job) throw Error("the result of this translation has already been taken");
        Results results;
        {
            nb::gil_scoped_release no_python;
            results = engine_->finish(*job, poll_signals);
        }
        return to_python(results);
    }

  private:
    std::shared_ptr<Engine> engine_;
    std::shared_ptr<Job> job_;
};

nb::bytes logits(Engine& engine, const Tokens& source, const Tokens& target) {
    std::vector<float> values;
    {
        nb::gil_scoped_release no_python;
        values = engine.logits(source, target, poll_signals);
    }
    return nb::bytes(values.data(), values.size() * sizeof(float));
}

void set_error(const char* type, const std::exception& error) {
    nb::object errors = nb::module_::import_("pocketmt.errors");
    PyErr_SetString(nb::object(errors.attr(type)).ptr(), error.what());
}

void translate_error(const std::exception_ptr& pointer, void*) {
    try {
        std::rethrow_exception(pointer);
    } catch (const Error& error) {
        set_error("EngineError", error);
    } catch (const ModelError& error) {
        set_error("ModelFileError", error);
    }
}

void bind_options(nb::module_& module) {
    nb::class_<SearchOptions>(module, "SearchOptions")
        .def(nb::new_([](size_t beam_size, size_t n_best, double length_penalty, std::optional<size_t> max_length,
                         size_t min_length, bool scores, bool shortlist) {
                 return SearchOptions{beam_size, n_best, length_penalty, max_length, min_length, shortlist, scores};
             }),
             nb::kw_only(), nb::arg("beam_size"), nb::arg("n_best"), nb::arg("length_penalty"),
             nb::arg("max_length").none(), nb::arg("min_length"), nb::arg("scores"), nb::arg("shortlist") = true);
}

}  // namespace

NB_MODULE(_native, module) {
    nb::register_exception_translator(translate_error);
    module.def("instruction_sets", &supported_names);
    bind_options(module);
    nb::class_<Pending>(module, "Pending").def("result", &Pending::result);
    nb::class_<Engine>(module, "Model")
        .def(nb::new_(&load), nb::kw_only(), nb::arg("buffer"), nb::arg("architecture"), nb::arg("tensors"),
             nb::arg("matrices"), nb::arg("release").none(), nb::arg("instruction_set").none(), nb::arg("workers"),
             nb::arg("pin_workers") = false, nb::arg("decoders") = std::unordered_map<std::string, nb::callable>{},
             nb::arg("vector_groups") = std::vector<PythonVectorGroup>{},
             nb::arg("logarithmic_activations") = nb::none(), nb::arg("activation_bits") = 0,
             nb::arg("shortlist") = nb::none(), nb::arg("frequent_pieces") = 0)
        .def_prop_ro("instruction_set", [](const Engine& engine) { return engine.network().kernels().name; })
        .def(
            "submit",
            [](std::shared_ptr<Engine> engine, std::vector<Tokens> sources, const SearchOptions& options) {
                return new Pending(std::move(engine), std::move(sources), options);
            },
            nb::arg("sources"), nb::arg("options"))
        .def(
            "translate",
            [](std::shared_ptr<Engine> engine, std::vector<Tokens> sources, const SearchOptions& options) {
                return Pending(std::move(engine), std::move(sources), options).result();
            },
            nb::arg("sources"), nb::arg("options"))
        .def("logits", &logits, nb::arg("source"), nb::arg("target"));
}
