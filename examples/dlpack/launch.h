// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches kernels on DLPack tensors, which PyTorch, JAX, CuPy, TVM and others exchange.
#pragma once

#include <dlpack/dlpack.h>
#include <tile/tilert.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// A tensor for a pointer parameter, an integer for an integer parameter.
using Argument = std::variant<const DLTensor *, int64_t>;

/// Launches in `stream` of the current context, which belongs to device `device`. Throws std::invalid_argument if a
/// tensor is not on that device, or its element type is not the kernel's, and std::runtime_error if the launch fails.
/// Shapes are not passed implicitly: the caller passes them as integers.
void launch(tile_kernel *kernel, void *stream, int device, const std::vector<Argument> &arguments);

/// The row stride of a matrix in elements. Throws std::invalid_argument if the tensor is not a matrix, or the elements
/// of a row are not contiguous.
int64_t rowStride(const DLTensor &tensor);
