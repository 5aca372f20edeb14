// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derives the GEMM of a kernel from its emitted IR, for kernels without "#: expect c == a @ b", such as unmodified
// Triton kernels. The cost model then chooses among their configurations.
#pragma once

#include "Frontend/OpenGemm.h"
#include "Tile/TileDialect.h"

namespace tile::driver {

/// Returns the only GEMM of the kernel, if its operands are loaded from memory and its grid gives the number of blocks:
///
///   grid(cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N))     M and N, by the block sizes of the dot; other factors are a batch,
///                                                 which counts as more rows
///   for k in range(0, cdiv(K, BLOCK_K))           K, by the steps of the loop around the dot
///
/// `raised` is the kernel after `tile-raise-descriptors`, which shows the operands that TMA loads.
std::optional<frontend::OpenGemm> readOpenGemm(KernelOp kernel, KernelOp raised);

} // namespace tile::driver
