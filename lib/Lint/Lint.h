// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warnings that need the finished kernel: what reaches an address, a mask, a reduction. One file each.
//
//   request.inspect = [&](KernelOp kernel, const KernelText &text) {
//     lint::inspect({kernel, text.operations, diagnostics, target.hasTma()});
//   };
//
// They look at the kernel as the front end made it and change nothing. Messages and flags are the front end's
// (Diagnostics.def, Warnings.def); what is not enabled costs no time.
#pragma once

#include "Frontend/Frontend.h"

namespace tile::lint {

/// What a launch is expected to have, as far as that is known.
struct Expected {
  std::map<std::string, int64_t> sizes; ///< of integer parameters, by name
  std::vector<int64_t> grid;            ///< programs; empty: unknown
};

struct Subject {
  KernelOp kernel;
  const frontend::SourceMap &sources;
  frontend::DiagnosticEngine &diagnostics;
  bool hasTma = false; ///< the target copies blocks by TMA
  Expected expected = {};

  /// Text of an operation; the place of its location if the front end has not recorded more.
  frontend::OperationSource sourceOf(mlir::Operation *op) const;
  /// A parameter's name in the text, and its annotation, empty if it has none.
  std::pair<frontend::SourceRange, frontend::SourceRange> declarationOf(mlir::BlockArgument parameter) const;
  /// Reports at the operation, with the calls that lead to it.
  frontend::DiagnosticEngine::Builder report(frontend::Diag id, mlir::Operation *op,
                                             const std::vector<std::string> &arguments = {}) const;
};

/// All of the following that are enabled.
void inspect(const Subject &subject);

/// Products of 32 bits in addresses, both factors of which are known at run time only, and no better than by type. One
/// report for a kernel.
void findOffsetOverflow(const Subject &subject);
/// Loads whose masked-out elements reach a reduction, a product, an address or a store without a mask.
void findMaskedLoads(const Subject &subject);
/// Accesses that are not contiguous along any dimension.
void findUncoalesced(const Subject &subject);
/// Accesses that would be wide, or could be done by TMA, if more were promised of parameters.
void findMissingDivisibility(const Subject &subject);

} // namespace tile::lint
