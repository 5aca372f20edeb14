// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pass instrumentations: --dump-ir, -Rpass, --time-passes, --print-layouts, and the watcher of tilec explain.
#pragma once

#include "Driver/Timing.h"

#include "Tile/TileDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <functional>
#include <memory>
#include <string>

namespace tile::driver {

/// Writes `NN-<pass>.mlir` into `directory` after each pass that changed the IR. Stores the first write error in
/// `error`.
std::unique_ptr<mlir::PassInstrumentation> createIrDumper(std::string directory, std::string &error);

/// Stores the name of the running pass in `name`.
std::unique_ptr<mlir::PassInstrumentation> createPassTracker(std::string &name);

/// Adds a row for each pass to `timing`.
std::unique_ptr<mlir::PassInstrumentation> createPassTimer(Timing &timing);

/// Stores in `tables` the layouts of the last kernel IR that contained any, one table for each layout.
std::unique_ptr<mlir::PassInstrumentation> createLayoutPrinter(std::string &tables);

/// Calls `read` with each kernel in its last form, before threads get functions.
std::unique_ptr<mlir::PassInstrumentation> createLastFormReader(std::function<void(KernelOp)> read);

/// Observes the IR and the remarks of all passes.
class PassWatcher {
public:
  virtual ~PassWatcher() = default;
  /// Called after each pass, and once before the first with the name "input".
  virtual void after(llvm::StringRef pass, mlir::ModuleOp module) = 0;
  /// Called for each remark of a pass (-Rpass).
  virtual void remark(llvm::StringRef pass, mlir::Diagnostic &remark) = 0;
};

std::unique_ptr<mlir::PassInstrumentation> createPassWatch(PassWatcher &watcher);

} // namespace tile::driver
