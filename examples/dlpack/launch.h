// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches kernels on DLPack tensors, which PyTorch, JAX, CuPy, TVM and others exchange.
#pragma once

#include <dlpack/dlpack.h>
#include <tile/tilert.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// An argument: a tensor for a pointer parameter, or an integer for an integer parameter.
using Argument = std::variant<const DLTensor *, int64_t>;

/// Launches the kernel in `stream` of the current context, which must belong to the device with index `device`. Throws
/// std::invalid_argument if a tensor is not on that device or does not have the parameter's element type, and
/// std::runtime_error if the launch fails. Shapes are not passed implicitly: the caller passes them as integers.
void launch(tile_kernel *kernel, void *stream, int device, const std::vector<Argument> &arguments);

/// Returns the row stride of a matrix in elements. Throws std::invalid_argument if the tensor is not a matrix or the
/// elements of a row are not contiguous.
int64_t rowStride(const DLTensor &tensor);
