// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records a compilation for the page: the IR after each pass that changed it, with the source line of each IR line; the
// remarks of the passes; and the layouts and shared memory of the last IR that has any.
//
//   %43 = cta.wgmma %21, %42, … loc(#loc17)      #loc17 = loc("attention.tile":50:17)
//   ⇒ the text without locations, and 50
#pragma once

#include "Driver/Instrumentation.h"
#include "Explain/Facts.h"

#include "llvm/ADT/MapVector.h"

#include <string>

namespace tile::explain {

/// Removes the locations from `text`, as printed by MLIR, and returns the source line of each line. Ignores source
/// lines of files other than `file`.
MarkedText readLocations(llvm::StringRef text, llvm::StringRef file);

class PassRecord final : public driver::PassWatcher {
public:
  explicit PassRecord(std::string file) : file(std::move(file)) {}

  void after(llvm::StringRef pass, mlir::ModuleOp module) override;
  void remark(llvm::StringRef pass, mlir::Diagnostic &remark) override;

  const CompilerFacts &facts() const { return known; }

private:
  bool readLayouts(mlir::ModuleOp module);
  void readShared(mlir::ModuleOp module);
  unsigned lineOf(mlir::Location location) const;

  std::string file;
  CompilerFacts known;
  std::vector<Remark> waiting; ///< remarks of the current pass
};

} // namespace tile::explain
