// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel multiplies, read from what the front end made of it: for kernels that no "#: expect c == a @ b" tells
// of, unchanged ones of Triton's above all. The cost model then chooses among their configurations.
#pragma once

#include "Frontend/Sema/OpenProduct.h"
#include "Tile/TileDialect.h"

namespace tile::driver {

/// The only product of the kernel, if its operands come from memory as they are and its grid says how many blocks there
/// are:
///
///   grid(cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N))     M and N, by the sizes of the product's block; other factors are a
///                                                 batch, which counts as more rows
///   for k in range(0, cdiv(K, BLOCK_K))           K, by the steps of the loop around the product
///
/// `raised` is the kernel behind `tile-raise-descriptors`: it tells what comes by TMA.
std::optional<frontend::OpenProduct> readProduct(KernelOp kernel, KernelOp raised);

} // namespace tile::driver
