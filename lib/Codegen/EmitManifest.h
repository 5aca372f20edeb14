// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fills the manifest of an artifact: before lowering from the tile.kernel operation, after lowering from the LLVM
// function, and finally from ptxas's report.
//
// The kernel's `launch` dictionary holds the directives, whose expressions are strings:
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

/// Describes parameters, constants and directives. Fails with a message if a directive is malformed or if the manifest
/// cannot express a type. `kernel` is a tile.kernel, or a lowered kernel; for a lowered kernel, only the names and
/// sizes of the parameters are known.
llvm::Expected<runtime::Manifest> describeKernel(mlir::FunctionOpInterface kernel, const SourceInfo &source);

/// Returns true if `function` is a kernel in the LLVM dialect.
bool isLoweredKernel(mlir::FunctionOpInterface function);

/// Describes the launch from the attributes of the only kernel in `lowered`: threads, cluster, dynamic shared memory,
/// and the hidden arguments that follow the parameters (tensor maps, grid dimensions and scratch memory).
llvm::Error describeLaunch(mlir::ModuleOp lowered, const target::GpuTarget &target, runtime::Manifest &manifest);

/// Describes the parameter into which an instrumented kernel records times. The first call adds the parameter; a later
/// call sets its shape, once the number of warps is known.
void describeTimes(runtime::Manifest &manifest);

/// Describes registers, spills and static shared memory and, for a persistent kernel, the number of CTAs per
/// multiprocessor that follows from them.
void describeResources(const KernelResources &resources, const target::GpuTarget &target, runtime::Manifest &manifest);

} // namespace tile::codegen
