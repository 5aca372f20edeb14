// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fills the artifact's manifest: before lowering from the tile.kernel operation, after it from the lowered function,
// and at the end from what ptxas reports.
//
// The kernel's `launch` dictionary holds the directives, expressions as text:
//   {grid = ["cdiv(M, BLOCK_M)", ...], buffers = {a = {shape = ["M", "K"], strides = ["sm", "sk"], role = "random"}},
//    defaults = {stride_am = "K"}, expect = [{buffer = "c", expression = "a @ b", tolerance = 1.0e-3}]}
#pragma once

#include "Runtime/Manifest.h"
#include "Target/GpuTarget.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir {
class FunctionOpInterface;
class ModuleOp;
} // namespace mlir

namespace tile::codegen {

struct KernelResources;

struct SourceInfo {
  std::string file;
  std::string hash; ///< "sha256:..."
  std::string compiler;
};

/// Parameters, constants and directives. Fails with a message when a directive is malformed or a type has no spelling
/// in the manifest.
/// `kernel` is a tile.kernel, or a lowered kernel, of which only the names and sizes of the parameters are known.
llvm::Expected<runtime::Manifest> describeKernel(mlir::FunctionOpInterface kernel, const SourceInfo &source);

/// Whether `function` is a kernel in the LLVM dialect.
bool isLoweredKernel(mlir::FunctionOpInterface function);

/// Threads, cluster, dynamic shared memory, and the tensor maps, grid dimensions and scratch memory that the kernel
/// takes after its parameters, from the attributes of the one kernel in `lowered`.
llvm::Error describeLaunch(mlir::ModuleOp lowered, const target::GpuTarget &target, runtime::Manifest &manifest);

/// The parameter of a kernel that records times: added, or with the shape that the kernel's warps need.
void describeTimes(runtime::Manifest &manifest);

/// Registers, spills and static shared memory; and, of a persistent kernel, how many of its blocks share a
/// multiprocessor therefore.
void describeResources(const KernelResources &resources, const target::GpuTarget &target, runtime::Manifest &manifest);

} // namespace tile::codegen
