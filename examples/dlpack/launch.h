// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches of kernels whose pointers are tensors of DLPack, which PyTorch, JAX, CuPy, TVM and others give and take.
#pragma once

#include <dlpack/dlpack.h>
#include <tile/tilert.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// A tensor for a pointer, a number for an integer.
using Argument = std::variant<const DLTensor *, int64_t>;

/// Launches in `stream` of the current context, which belongs to device `device`. Throws std::invalid_argument if a
/// tensor is not on that device, or its elements are not of the kernel's type, and std::runtime_error if the launch
/// fails. Shapes are the kernel's matter: the caller passes them as numbers.
void launch(tile_kernel *kernel, void *stream, int device, const std::vector<Argument> &arguments);

/// The distance between rows of a matrix in elements. Throws std::invalid_argument if it is not a matrix, or the
/// elements of a row are not side by side.
int64_t rowStride(const DLTensor &tensor);
