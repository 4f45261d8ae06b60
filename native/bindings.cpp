// The native module: pocketmt.engine._native. Its signatures are in src/pocketmt/engine/_native.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/kernels.h"
#include "model/error.h"
#include "search/engine.h"

namespace nb = nanobind;
using namespace pocketmt;

namespace {

using Tokens = std::vector<uint32_t>;
using Results = std::vector<std::vector<Translation>>;
using PythonTensor = std::tuple<std::string, std::vector<uint64_t>, uint64_t, uint64_t>;
using PythonGroup = std::tuple<std::string, unsigned, std::string, std::vector<int>, uint64_t>;
using PythonStack = std::tuple<std::string, std::vector<std::string>>;

std::vector<std::string> supported_names() {
    std::vector<std::string> names;
    for (const NamedInstructionSet& each : instruction_sets) {
        if (supported(each.instruction_set)) names.emplace_back(each.name);
    }
    return names;
}

const Kernels& choose_kernels(const std::optional<std::string>& name) {
    if (!name) return best_kernels();
    std::string names;
    for (const NamedInstructionSet& each : instruction_sets) {
        if (!supported(each.instruction_set)) continue;
        if (each.name == *name) return kernels(each.instruction_set);
        names += (names.empty() ? "" : ", ") + std::string(each.name);
    }
    throw Error("instruction set \"" + *name + "\" is unknown or this CPU lacks it; it has: " + names);
}

// The bytes of a Python object that offers a buffer, for as long as this lives.
class BufferView {
  public:
    explicit BufferView(nb::handle object) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    }
    ~BufferView() { PyBuffer_Release(&view_); }
    BufferView(const BufferView&) = delete;
    BufferView& operator=(const BufferView&) = delete;

    std::span<const std::byte> bytes() const {
        return {static_cast<const std::byte*>(view_.buf), static_cast<size_t>(view_.len)};
    }

  private:
    Py_buffer view_;
};

// The bytes of a Python object, which any thread may let go of.
TensorSource::Decoded hold(nb::object object) {
    std::shared_ptr<BufferView> view(new BufferView(object), [](BufferView* view) {
        nb::gil_scoped_acquire python;
        delete view;
    });
    return {view, view->bytes()};
}

Description describe(std::unordered_map<std::string, PythonTensor> tensors,
                     std::unordered_map<std::string, std::vector<PythonGroup>> matrices,
                     std::vector<PythonStack> stacks) {
    Description description;
    for (auto& [name, tensor] : tensors) {
        auto& [dtype, shape, offset, size] = tensor;
        description.tensors.emplace(name, TensorDescription{std::move(dtype), std::move(shape), offset, size});
    }
    for (auto& [name, groups] : matrices) {
        std::vector<GroupDescription>& target = description.matrices[name];
        for (auto& [scheme, bits, granularity, levels, rows] : groups) {
            target.push_back({std::move(scheme), bits, std::move(granularity), std::move(levels), rows});
        }
    }
    for (auto& [name, vectors] : stacks) description.stacks.push_back({std::move(name), std::move(vectors)});
    return description;
}

LogarithmicActivations logarithmic_activations(const std::tuple<unsigned, double>& products) {
    const auto [top, scale] = products;
    if (top > 128 || !std::has_single_bit(top) || !(scale > 1e-30 && scale < 1e30))
        throw ModelError("products: activations of up to " + std::to_string(top) + " levels, of scale " +
                         std::to_string(scale) + ", cannot be quantized");
    return {static_cast<float>(top), static_cast<float>(scale)};
}

std::shared_ptr<Engine> load(nb::handle buffer, const Architecture& architecture,
                             std::unordered_map<std::string, PythonTensor> tensors,
                             std::unordered_map<std::string, std::vector<PythonGroup>> matrices,
                             std::optional<nb::callable> release, const std::optional<std::string>& instruction_set,
                             size_t workers, bool pin_workers, std::unordered_map<std::string, nb::callable> decoders,
                             std::vector<PythonStack> stacks, std::optional<std::tuple<unsigned, double>> products,
                             unsigned activation_bits, nb::object shortlist, size_t frequent_pieces) {
    BufferView file(buffer);
    TensorSource::Release release_range;
    if (release) {
        release_range = [&release](uint64_t offset, uint64_t size) {
            nb::gil_scoped_acquire python;
            (*release)(offset, size);
        };
    }
    Description description = describe(std::move(tensors), std::move(matrices), std::move(stacks));
    for (auto& [name, tensor] : description.tensors) tensor.coded = decoders.contains(name);
    if (products) description.products = logarithmic_activations(*products);
    auto decode = [&decoders](const std::string& name) {
        nb::gil_scoped_acquire python;
        return hold(decoders.at(name)());
    };
    TensorSource source(file.bytes(), std::move(description), std::move(release_range), decode);
    std::optional<BufferView> shortlist_bytes;
    if (!shortlist.is_none()) shortlist_bytes.emplace(shortlist);
    StoredShortlist stored{shortlist_bytes ? shortlist_bytes->bytes() : std::span<const std::byte>(), frequent_pieces};
    nb::gil_scoped_release no_python;
    const Kernels* table = nullptr;
    try {
        table = &choose_kernels(instruction_set);
        check_kernels(*table);
    } catch (const std::runtime_error& error) {
        throw Error(error.what());
    }
    return std::make_shared<Engine>(*table, architecture, source, workers, activation_bits, stored, pin_workers);
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

// A translation under way; given up when nothing refers to it any more.
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

using PythonLayer = std::tuple<size_t, size_t, size_t>;

std::vector<LayerSizes> layer_sizes(const std::vector<PythonLayer>& layers) {
    std::vector<LayerSizes> sizes;
    for (const auto& [heads, cross_heads, feed_forward] : layers) sizes.push_back({heads, cross_heads, feed_forward});
    return sizes;
}

Architecture make_architecture(const std::vector<PythonLayer>& encoder, const std::vector<PythonLayer>& decoder,
                               size_t decoder_rounds, size_t model_dimension, size_t head_size, const std::string& norm,
                               bool attention_bias, size_t vocabulary_size) {
    if (norm != "post" && norm != "pre")
        throw ModelError("architecture: norm is \"" + norm + "\", it must be post or pre");
    NormPlace place = norm == "pre" ? NormPlace::pre : NormPlace::post;
    return {layer_sizes(encoder), layer_sizes(decoder), decoder_rounds, model_dimension, head_size, place,
            attention_bias,       vocabulary_size,      std::nullopt};
}

Architecture make_lstm_architecture(size_t encoder_layers, size_t decoder_layers, size_t model_dimension,
                                    size_t recurrent_dimension, size_t heads, size_t head_size,
                                    size_t vocabulary_size) {
    Architecture architecture;
    architecture.model_dimension = model_dimension;
    architecture.head_size = head_size;
    architecture.vocabulary_size = vocabulary_size;
    architecture.lstm = LstmSizes{encoder_layers, decoder_layers, recurrent_dimension, heads};
    return architecture;
}

void bind_values(nb::module_& module) {
    nb::class_<Architecture>(module, "Architecture")
        .def(nb::new_(&make_architecture), nb::kw_only(), nb::arg("encoder"), nb::arg("decoder"),
             nb::arg("decoder_rounds"), nb::arg("model_dimension"), nb::arg("head_size"), nb::arg("norm"),
             nb::arg("attention_bias"), nb::arg("vocabulary_size"))
        .def_static("lstm", &make_lstm_architecture, nb::kw_only(), nb::arg("encoder_layers"),
                    nb::arg("decoder_layers"), nb::arg("model_dimension"), nb::arg("recurrent_dimension"),
                    nb::arg("heads"), nb::arg("head_size"), nb::arg("vocabulary_size"));
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
    bind_values(module);
    nb::class_<Pending>(module, "Pending").def("result", &Pending::result);
    nb::class_<Engine>(module, "Model")
        .def(nb::new_(&load), nb::kw_only(), nb::arg("buffer"), nb::arg("architecture"), nb::arg("tensors"),
             nb::arg("matrices"), nb::arg("release").none(), nb::arg("instruction_set").none(), nb::arg("workers"),
             nb::arg("pin_workers") = false, nb::arg("decoders") = std::unordered_map<std::string, nb::callable>{},
             nb::arg("stacks") = std::vector<PythonStack>{}, nb::arg("products") = nb::none(),
             nb::arg("activation_bits") = 0, nb::arg("shortlist") = nb::none(), nb::arg("frequent_pieces") = 0)
        .def_prop_ro("instruction_set", [](const Engine& engine) { return engine.network().kernels.name; })
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
