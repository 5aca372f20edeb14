// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inspects a kernel with several sets of options before it is compiled.
#pragma once

#include "Driver/ChooseConfig.h"
#include "Frontend/Configurations.h"
#include "Frontend/Frontend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tile::driver {

struct InspectedKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< null: the front end rejects the kernel
  std::optional<frontend::OpenGemm> gemm;   ///< the GEMM of the kernel, if directives describe it
  frontend::Grid grid;
  bool isOpen = false; ///< some parameters are left open

  explicit operator bool() const { return bool(module); }
  KernelOp kernel();
};

class KernelInspector {
public:
  explicit KernelInspector(const target::GpuTarget &gpu);
  ~KernelInspector();

  /// Emits the kernel with the front end, using `tiles` for the parameters that it leaves open. Reports no diagnostics.
  InspectedKernel inspect(const CompilerOptions &options, const frontend::TileChoices &tiles);

  /// Lists the configurations of @triton.autotune, the general one first. Reports no diagnostics.
  frontend::KernelConfigurations listConfigurations(const CompilerOptions &options) const;

  /// Returns true if the pipeline turns plain loads or stores into TMA accesses with tensor maps that the launcher
  /// creates.
  bool usesTensorMapsForPointers(const CompilerOptions &options, InspectedKernel &inspected);

  /// Returns the GEMM that the kernel computes, according to its directives or its code.
  std::optional<frontend::OpenGemm> findGemm(const CompilerOptions &options, InspectedKernel &inspected);

  /// Returns true if the pipeline can lower the kernel and the result fits the target.
  bool lowers(const CompilerOptions &options, InspectedKernel &inspected);

  /// Returns the constraints that the code imposes on open block sizes, found by trying several sizes.
  KernelFacts findFacts(const CompilerOptions &options, const frontend::OpenGemm &gemm);

private:
  mlir::OwningOpRef<mlir::ModuleOp> raise(const CompilerOptions &options, InspectedKernel &inspected);
  mlir::OwningOpRef<mlir::ModuleOp> runPipeline(const GpuPipelineOptions &pipeline, InspectedKernel &inspected);

  const target::GpuTarget &gpu;
  std::unique_ptr<mlir::MLIRContext> context;
};

/// Returns a tile that all dots accept, suitable for wgmma if it supports the types.
frontend::TileChoices commonTile();

} // namespace tile::driver
