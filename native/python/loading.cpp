#include "python/loading.h"

#include <bit>
#include <span>
#include <utility>

#include "kernels/kernels.h"
#include "model/runtime/error.h"
#include "python/interpreter_lock.h"

namespace nb = nanobind;

namespace pocketmt {

namespace {

const Kernels& choose_kernels(const std::optional<std::string>& name) {
    if (!name) return best_kernels();
    try {
        return kernels_named(*name);
    } catch (const std::exception&) {
        std::string names;
        for (const Kernels* each : supported_kernels()) names += (names.empty() ? "" : ", ") + std::string(each->name);
        throw Error("instruction set \"" + *name + "\" is unknown or this CPU lacks it; it has: " + names);
    }
}

const Kernels& checked_kernels(const std::optional<std::string>& name) {
    try {
        const Kernels& table = choose_kernels(name);
        check_kernels(table);
        return table;
    } catch (const std::runtime_error& error) {
        throw Error(error.what());
    }
}

// The bytes of a Python object with a buffer, while this view exists.
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

// The bytes of a Python object, which any thread may release.
TensorSource::Decoded hold(nb::object object) {
    std::shared_ptr<BufferView> view(new BufferView(object), [](BufferView* view) {
        WithInterpreterLock python;
        delete view;
    });
    return {view, view->bytes()};
}

FileDescription describe_file(std::unordered_map<std::string, PythonTensor> tensors,
                              std::unordered_map<std::string, std::vector<PythonGroup>> matrices,
                              std::vector<PythonVectorGroup> vector_groups) {
    FileDescription description;
    for (auto& [name, tensor] : tensors) {
        auto& [dtype, shape, offset, size] = tensor;
        description.tensors.emplace(name, TensorDescription{std::move(dtype), std::move(shape), offset, size});
    }
    for (auto& [name, groups] : matrices) {
        std::vector<GroupDescription>& target = description.matrices[name];
        for (auto& [scheme, bits, granularity, levels, rows] : groups)
            target.push_back({std::move(scheme), bits, std::move(granularity), std::move(levels), rows});
    }
    for (auto& [name, vectors] : vector_groups)
        description.vector_groups.push_back({std::move(name), std::move(vectors)});
    return description;
}

TensorCoding& coding(FileDescription& description, const std::string& name) {
    auto found = description.tensors.find(name);
    if (found == description.tensors.end()) throw ModelError("tensor " + name + ": is missing from the model file");
    return found->second.coding;
}

LogarithmicActivations checked_activations(const std::tuple<unsigned, double>& activations) {
    const auto [top, scale] = activations;
    if (top > 128 || !std::has_single_bit(top) || !(scale > 1e-30 && scale < 1e30))
        throw ModelError("logarithmic activations of up to " + std::to_string(top) + " levels, of scale " +
                         std::to_string(scale) + ", cannot be quantized");
    return {static_cast<float>(top), static_cast<float>(scale)};
}

}  // namespace

std::shared_ptr<Engine> load(nb::handle buffer, const FieldValues& architecture,
                             std::unordered_map<std::string, PythonTensor> tensors,
                             std::unordered_map<std::string, std::vector<PythonGroup>> matrices,
                             std::optional<nb::callable> release, const std::optional<std::string>& instruction_set,
                             size_t workers, bool pin_workers, std::unordered_map<std::string, nb::callable> decoders,
                             const std::vector<std::string>& deflated, std::vector<PythonVectorGroup> vector_groups,
                             std::optional<std::tuple<unsigned, double>> logarithmic_activations,
                             unsigned activation_bits, nb::object shortlist, size_t frequent_pieces) {
    BufferView file(buffer);
    TensorSource::Release release_range;
    if (release) {
        release_range = [&release](uint64_t offset, uint64_t size) {
            WithInterpreterLock python;
            (*release)(offset, size);
        };
    }
    FileDescription description = describe_file(std::move(tensors), std::move(matrices), std::move(vector_groups));
    for (const std::string& name : deflated) coding(description, name) = TensorCoding::deflate;
    description.deflated = deflated;
    for (const auto& [name, decoder] : decoders) coding(description, name) = TensorCoding::other;
    if (logarithmic_activations) description.logarithmic_activations = checked_activations(*logarithmic_activations);
    auto decode = [&decoders](const std::string& name) {
        WithInterpreterLock python;
        return hold(decoders.at(name)());
    };
    TensorSource source(file.bytes(), std::move(description), std::move(release_range), decode);
    std::optional<BufferView> shortlist_bytes;
    if (!shortlist.is_none()) shortlist_bytes.emplace(shortlist);
    StoredShortlist stored{shortlist_bytes ? shortlist_bytes->bytes() : std::span<const std::byte>(), frequent_pieces};
    const Description network = describe_network(architecture);
    WithoutInterpreterLock no_python;
    auto loaded = std::make_shared<Network>(checked_kernels(instruction_set), network, source, activation_bits, stored);
    return std::make_shared<Engine>(Ensemble({std::move(loaded)}), workers, pin_workers);
}

}  // namespace pocketmt
