// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derives the GEMM of a kernel from its emitted IR, for kernels without "#: expect c == a @ b", such as unmodified
// Triton kernels. The cost model can then choose among the kernels' configurations.
#pragma once

#include "Frontend/Frontend.h"

namespace tile::driver {

/// Returns the GEMM of the kernel. There must be only one, its operands must be loaded from memory, and the grid must
/// give the number of blocks:
///
///   grid(cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)) gives M and N, using the block sizes of the dot; other factors are a
///   batch, whose matrices count as additional rows
///   for k in range(0, cdiv(K, BLOCK_K))           gives K, using the steps of the loop around the dot
///
/// `raised` is the kernel after `tile-raise-descriptors`, which shows the operands that TMA loads.
std::optional<frontend::OpenGemm> readOpenGemm(KernelOp kernel, KernelOp raised, const frontend::Grid &grid);

} // namespace tile::driver
