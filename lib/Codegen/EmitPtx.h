// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// llvm::Module -> optimised LLVM IR -> PTX.
//
//   NvptxBackend backend(target, /*optLevel=*/2);
//   if (!functionsOfLibdevice(module).empty()) linkLibdevice(module, path);
//   backend.optimize(module);
//   Expected<std::string> ptx = backend.emitPtx(module);
#pragma once

#include "Target/GpuTarget.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tile::codegen {

/// LLVM's code generator for one GPU.
class NvptxBackend {
public:
  /// Creates the code generator. `optLevel` 0 only lowers the effort of instruction selection; the passes of optimize()
  /// still run, because without them accumulators would be in local memory.
  NvptxBackend(const target::GpuTarget &target, unsigned optLevel);
  ~NvptxBackend();

  /// Sets the target triple and the data layout; must be called before linking and optimisation.
  void prepare(llvm::Module &module) const;
  void optimize(llvm::Module &module) const;
  llvm::Expected<std::string> emitPtx(llvm::Module &module) const;

private:
  std::unique_ptr<llvm::TargetMachine> machine;
  bool hasBF16;
  bool marksUsedBytes; ///< loads can declare which bytes are used (PTX 8.3)
};

/// Returns the names of the libdevice functions (`__nv_...`) that the module calls.
std::vector<std::string> functionsOfLibdevice(const llvm::Module &module);

/// Links the required functions from the bitcode file at `path` (libdevice.10.bc of the CUDA toolkit).
llvm::Error linkLibdevice(llvm::Module &module, llvm::StringRef path);

} // namespace tile::codegen
