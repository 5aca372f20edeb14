// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watchers of a pass manager: --dump-ir, -Rpass, --time-passes, --print-layouts, and those of tilec explain.
#pragma once

#include "Driver/Timing.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <memory>
#include <string>

namespace tile::driver {

/// Writes `NN-<pass>.mlir` into `directory` after each pass that changed the IR. `error` receives the first failure to
/// write.
std::unique_ptr<mlir::PassInstrumentation> createIrDumper(std::string directory, std::string &error);

/// Keeps in `name` which pass runs.
std::unique_ptr<mlir::PassInstrumentation> createPassTracker(std::string &name);

/// Adds a row for every pass.
std::unique_ptr<mlir::PassInstrumentation> createPassTimer(Timing &timing);

/// Keeps in `tables` the layouts of the last form of the kernel that had any, each as a table.
std::unique_ptr<mlir::PassInstrumentation> createLayoutPrinter(std::string &tables);

/// Sees the compiler at work.
class PassWatcher {
public:
  virtual ~PassWatcher() = default;
  /// After each pass, and once before the first, named "input".
  virtual void after(llvm::StringRef pass, mlir::ModuleOp module) = 0;
  /// What a pass says of which nobody needs to hear (-Rpass).
  virtual void remark(llvm::StringRef pass, mlir::Diagnostic &remark) = 0;
};

std::unique_ptr<mlir::PassInstrumentation> createPassWatch(PassWatcher &watcher);

} // namespace tile::driver
