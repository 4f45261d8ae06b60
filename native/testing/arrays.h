// Conversion of NumPy arrays, and the kernels of an instruction set by name.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "testing/guarded_memory.h"

namespace pocketmt::testing {

template <class T, int dimensions>
using Array = nanobind::ndarray<const T, nanobind::ndim<dimensions>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using NumPyArray = nanobind::ndarray<nanobind::numpy, T, nanobind::c_contig>;

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("expected ") + what);
}

template <class T>
GuardedRows<T> guarded(const Array<T, 1>& array) {
    return GuardedRows<T>(array.data(), 1, array.shape(0), 0);
}
template <class T>
GuardedRows<T> guarded(const Array<T, 2>& array, size_t gap) {
    return GuardedRows<T>(array.data(), array.shape(0), array.shape(1), gap);
}

// Indices of rows.
using Indices = Array<uint32_t, 1>;
inline void require_indices(const Indices& indices, size_t rows) {
    require(indices.shape(0) > 0, "at least one index");
    for (size_t i = 0; i < indices.shape(0); ++i) require(indices.data()[i] < rows, "indices of rows");
}

template <class T>
NumPyArray<T> to_numpy(const std::vector<T>& values, std::initializer_list<size_t> shape) {
    T* copy = new T[values.size()];
    nanobind::capsule owner(copy, [](void* data) noexcept { delete[] static_cast<T*>(data); });
    std::copy(values.begin(), values.end(), copy);
    return NumPyArray<T>(copy, shape, owner);
}

// As pocketmt::kernels_named, of emulated instruction sets too.
const Kernels& kernels_named(const std::string& name);

void bind_products(nanobind::module_& module);
void bind_vector_functions(nanobind::module_& module);
void bind_fake_quantization(nanobind::module_& module);
void bind_self_check(nanobind::module_& module);
void bind_timing(nanobind::module_& module);
void bind_floor(nanobind::module_& module);
void bind_between_products(nanobind::module_& module);
void bind_thread_pool(nanobind::module_& module);

}  // namespace pocketmt::testing
