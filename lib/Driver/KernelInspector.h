// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the front end says about a kernel before it is compiled, for several sets of options.
#pragma once

#include "Driver/ChooseConfig.h"
#include "Frontend/Sema/Configurations.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tile::driver {

struct InspectedKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;     ///< null: the front end rejects the kernel
  std::optional<frontend::OpenProduct> product; ///< what it multiplies, if directives say so
  bool isOpen = false;                          ///< something is left to be chosen

  explicit operator bool() const { return bool(module); }
  KernelOp kernel();
};

class KernelInspector {
public:
  explicit KernelInspector(const target::GpuTarget &gpu);
  ~KernelInspector();

  /// The kernel as the front end emits it, with these tiles where it leaves them open. Reports nothing.
  InspectedKernel inspect(const CompilerOptions &options, const frontend::TileChoices &tiles);

  /// What @triton.autotune lists for the kernel; the general one first. Reports nothing.
  frontend::KernelConfigurations listConfigurations(const CompilerOptions &options) const;

  /// Whether plain loads or stores become accesses through tensor maps that the launcher makes.
  bool usesTensorMapsForPointers(const CompilerOptions &options, InspectedKernel &inspected);

  /// What the kernel multiplies: as its directives say, or its code.
  std::optional<frontend::OpenProduct> findProduct(const CompilerOptions &options, InspectedKernel &inspected);

  /// Whether the pipeline makes a kernel of it that fits the target.
  bool lowers(const CompilerOptions &options, InspectedKernel &inspected);

  /// What its code says about blocks of several sizes, where they are open.
  KernelFacts findFacts(const CompilerOptions &options, const frontend::OpenProduct &product);

private:
  mlir::OwningOpRef<mlir::ModuleOp> raise(const CompilerOptions &options, InspectedKernel &inspected);
  mlir::OwningOpRef<mlir::ModuleOp> runPipeline(const GpuPipelineOptions &pipeline, InspectedKernel &inspected);

  const target::GpuTarget &gpu;
  std::unique_ptr<mlir::MLIRContext> context;
};

/// A tile that all products can have; a product of warp groups where these multiply the types.
frontend::TileChoices commonTile();

} // namespace tile::driver
