// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warnings that need the emitted kernel, because they follow data flow into addresses, masks and reductions. Each check
// has its own file.
//
//   request.inspect = [&](KernelOp kernel, const KernelText &text) {
//     lint::inspect({kernel, text.operations, diagnostics, target.hasTma()});
//   };
//
// The checks run on the kernel as the front end emits it and do not change it. Messages and flags are defined in the
// front end (Diagnostics.def, Warnings.def). Disabled checks cost no time.
#pragma once

#include "Frontend/Frontend.h"

namespace tile::lint {

/// Expected launch parameters, as far as they are known.
struct Expected {
  std::map<std::string, int64_t> sizes; ///< integer parameters by name
  std::vector<int64_t> grid;            ///< programs per dimension; empty: unknown
};

struct Subject {
  KernelOp kernel;
  const frontend::SourceMap &sources;
  frontend::DiagnosticEngine &diagnostics;
  bool hasTma = false; ///< the target has TMA
  Expected expected = {};

  /// Returns the source text of an operation; only its location if the front end has not recorded the text.
  frontend::OperationSource sourceOf(mlir::Operation *op) const;
  /// Returns the source ranges of a parameter's name and of its annotation, which is empty if there is none.
  std::pair<frontend::SourceRange, frontend::SourceRange> declarationOf(mlir::BlockArgument parameter) const;
  /// Starts a report at the operation, with its call stack.
  frontend::DiagnosticEngine::Builder report(frontend::Diag id, mlir::Operation *op,
                                             const std::vector<std::string> &arguments = {}) const;
};

/// Runs all of the following checks that are enabled.
void inspect(const Subject &subject);

/// Finds 32-bit multiplications in addresses whose factors are both run-time values without better bounds than their
/// types. Reports once per kernel.
void findOffsetOverflow(const Subject &subject);
/// Finds loads whose masked-out elements reach a reduction, a dot, an address or an unmasked store.
void findMaskedLoads(const Subject &subject);
/// Finds buffers with an expectation that the kernel never writes.
void findUnwrittenOutputs(const Subject &subject);
/// Finds accesses that are not contiguous along any dimension.
void findUncoalesced(const Subject &subject);
/// Finds accesses that would be wide, or could use TMA, with more assumptions about parameters.
void findMissingDivisibility(const Subject &subject);

} // namespace tile::lint
