// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run of the compiler: text in, artifact out.
//
//   Compilation compilation(options, llvm::errs());
//   if (compilation.run())
//     use(compilation.result());
//   return int(compilation.outcome());
//
// run() is load() (front end: text -> tile dialect), lower() (passes -> LLVM/NVVM dialects) and generate() (LLVM IR,
// PTX, cubin, header), as far as `options.emit` needs them; a tilepack is not for one kernel (CompileVariants.h). Every
// failure has been explained on `errors`.
#pragma once

#include "Codegen/RunPtxas.h"
#include "Codegen/SourcePaths.h"
#include "Driver/ChooseConfig.h"
#include "Driver/CompilerOptions.h"
#include "Driver/Timing.h"
#include "Frontend/Frontend.h"
#include "Lint/Lint.h"
#include "Runtime/Manifest.h"
#include "Target/GpuTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace llvm {
class LLVMContext;
} // namespace llvm
namespace mlir {
class ScopedDiagnosticHandler;
class SourceMgrDiagnosticHandler;
} // namespace mlir

namespace tile::driver {

class PassWatcher;

class Compilation {
public:
  Compilation(CompilerOptions options, llvm::raw_ostream &errors);
  ~Compilation();

  bool run();

  /// Before run(): this one, which lives as long, is told of all passes.
  void watch(PassWatcher &passWatcher) { watcher = &passWatcher; }

  /// Before run(): a kernel that takes too much shared memory is an error, and not compiled so that it takes less.
  void refuseLargeKernels() { mayDoWithLess = false; }

  /// The first step alone: afterwards module() is in the tile dialect and manifest() describes its kernel.
  bool load();

  /// Writes the diagnostics so far to `errors` if they are wanted as one document; as text they have been written.
  void printDiagnostics();

  /// Something went wrong with what has been made; false.
  bool fail(Outcome reason, llvm::Error error);
  bool fail(Outcome reason, const llvm::Twine &message);
  /// Tells the user what is no mistake.
  void note(llvm::StringRef message);
  /// What ptxas says about code that it takes.
  /// A warning about the whole kernel, if it is enabled. False: it is an error.
  bool warn(frontend::Diag id, const std::vector<std::string> &arguments);
  void warnOfPtxas(llvm::StringRef message);

  Outcome outcome() const { return state; }
  mlir::ModuleOp module() { return moduleOp.get(); }
  const runtime::Manifest &manifest() const { return description; }
  /// With `options.debugInfo`: names of the values in module().
  const frontend::KernelText &text() const { return kernelText; }
  /// What `options.emit` asked for: text, or the bytes of a cubin.
  const std::string &result() const { return output; }
  /// Of a kernel that was assembled: what ptxas made, as it made it, of which PTX, at which level, and what it warned
  /// of.
  struct Assembly {
    std::string image, ptx;
    std::vector<std::string> warnings;
    unsigned level = codegen::highestPtxasLevel;
  };
  const Assembly &assembly() const { return assembled; }
  /// The files that were read: the input and the modules that it imports.
  const std::vector<std::string> &sourceFiles() const { return files; }

private:
  bool loadTile();
  struct TileAttempt;
  void attemptTile(TileAttempt &attempt, const KernelFacts &facts);
  void choose(TileAttempt &attempt, const KernelFacts &facts) const;
  lint::Expected expectedLaunch(KernelOp kernel) const;
  bool loadMlir();
  bool selectKernel();
  bool lower();
  enum class Attempt { First, Only, WithLess };
  bool runPasses(const GpuPipelineOptions &pipeline, Attempt attempt, bool &needsLess);
  bool generate();
  bool assemble(const std::string &ptx);
  bool finish(llvm::StringRef artifact, llvm::StringRef ptx = {});
  void printModule();
  codegen::SourcePaths sourcePaths() const { return {options.input, options.importPaths, options.pathReplacements}; }
  bool isText() const { return options.diagnosticsFormat == DiagnosticsFormat::Text; }
  GpuPipelineOptions pipelineOptions() const;
  /// Says so, too.
  bool isCancelled();

  CompilerOptions options;
  std::optional<frontend::SourceFile> sidecar;
  llvm::raw_ostream &errors;
  PassWatcher *watcher = nullptr;
  bool mayDoWithLess = true;
  Timing timing;
  Outcome state = Outcome::Success;
  const target::GpuTarget *gpu = nullptr;
  llvm::SourceMgr sources;
  std::unique_ptr<llvm::LLVMContext> llvmContext; ///< lives as long as this, though only generate() needs it
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<mlir::SourceMgrDiagnosticHandler> diagnostics; ///< prints; or
  std::unique_ptr<mlir::ScopedDiagnosticHandler> collector;      ///< fills the log
  DiagnosticLog log;
  mlir::OwningOpRef<mlir::ModuleOp> moduleOp;
  frontend::KernelText kernelText;
  runtime::Manifest description;
  Assembly assembled;
  std::string output;
  std::vector<std::string> files;
};

} // namespace tile::driver
