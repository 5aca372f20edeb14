// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run of the compiler: text in, artifact out.
//
//   Compilation compilation(options, llvm::errs());
//   if (compilation.run())
//     use(compilation.result());
//   return int(compilation.outcome());
//
// run() calls load() (front end: text -> tile dialect), lower() (passes -> LLVM/NVVM dialects) and generate() (LLVM IR,
// PTX, cubin, header), but only as many of them as `options.emit` needs. CompileVariants.h compiles a tilepack, which
// holds several kernels. Every failure is reported on `errors`.
#pragma once

#include "Codegen/RunPtxas.h"
#include "Codegen/SourcePaths.h"
#include "Driver/ChooseConfig.h"
#include "Driver/CompilerOptions.h"
#include "Driver/Timing.h"
#include "Frontend/Frontend.h"
#include "Lint/Lint.h"
#include "Order/RecordOrder.h"
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

  /// Registers a watcher that is notified of all passes. Call before run(); the watcher must outlive this object.
  void watch(PassWatcher &passWatcher) { watcher = &passWatcher; }

  /// Makes excessive shared memory usage an error instead of retrying with a pipeline that uses less. Call before
  /// run().
  void refuseLargeKernels() { mayReduceEffort = false; }

  /// Runs the front end only. Afterwards module() is in the tile dialect and manifest() describes its kernel.
  bool load();

  /// Writes the collected diagnostics to `errors` if they form one document; text diagnostics are written immediately.
  void printDiagnostics();

  /// Reports a failure that occurs after the compilation itself, and returns false.
  bool fail(Outcome reason, llvm::Error error);
  bool fail(Outcome reason, const llvm::Twine &message);
  /// Prints a note, which is not an error.
  void note(llvm::StringRef message);
  /// Reports a warning about the whole kernel if it is enabled. Returns false if the warning is an error.
  bool warn(frontend::Diag id, const std::vector<std::string> &arguments);
  void warnOfPtxas(llvm::StringRef message);

  Outcome outcome() const { return state; }
  mlir::ModuleOp module() { return moduleOp.get(); }
  const runtime::Manifest &manifest() const { return description; }
  /// Names of the values in module(); needs `options.debugInfo`.
  const frontend::KernelText &text() const { return kernelText; }
  /// The output that `options.emit` selects: text, or the bytes of a cubin.
  const std::string &result() const { return output; }
  /// The assembled kernel: the unmodified output of ptxas, its input PTX, the optimization level, and the warnings.
  struct Assembly {
    std::string image, ptx;
    std::vector<std::string> warnings;
    unsigned level = codegen::highestPtxasLevel;
  };
  const Assembly &assembly() const { return assembled; }
  /// The source files that were read: the input and the modules that it imports.
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
  void describeOrder(llvm::StringRef ptx);
  void noteSlowSteps();
  /// Returns false if the warning is an error.
  bool warnOfSpills(const codegen::KernelResources &resources);
  bool finish(llvm::StringRef artifact, llvm::StringRef ptx = {});
  void printModule();
  codegen::SourcePaths sourcePaths() const { return {options.input, options.importPaths, options.pathReplacements}; }
  bool isText() const { return options.diagnosticsFormat == DiagnosticsFormat::Text; }
  GpuPipelineOptions pipelineOptions() const;
  /// Returns true if the compilation was cancelled, and reports that.
  bool isCancelled();

  CompilerOptions options;
  std::optional<frontend::SourceFile> sidecar;
  llvm::raw_ostream &errors;
  PassWatcher *watcher = nullptr;
  bool mayReduceEffort = true;
  int64_t largestBlock = 0; ///< elements
  Timing timing;
  Outcome state = Outcome::Success;
  const target::GpuTarget *gpu = nullptr;
  llvm::SourceMgr sources;
  std::unique_ptr<llvm::LLVMContext> llvmContext; ///< kept as long as this object, although only generate() needs it
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<mlir::SourceMgrDiagnosticHandler> diagnostics; ///< set to print diagnostics
  std::unique_ptr<mlir::ScopedDiagnosticHandler> collector;      ///< set to collect them in the log instead
  DiagnosticLog log;
  mlir::OwningOpRef<mlir::ModuleOp> moduleOp;
  frontend::KernelText kernelText;
  runtime::Manifest description;
  order::KernelOrder kernelOrder;
  Assembly assembled;
  std::string output;
  std::vector<std::string> files;
};

} // namespace tile::driver
