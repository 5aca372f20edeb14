// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The forms that passes require of a kernel.
//
// In the pipeline, a pass relies on the previous passes. A pass that runs alone, or first, may get any valid IR. So it
// checks that the kernel has the form that the pass's declaration in Passes.td requires, and reports an error
// otherwise.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// The forms, in the order of the pipeline. Each phase is the form at one of the pipeline's cuts; the other forms occur
/// between two cuts.
enum class Form {
  program,   ///< Phase tile, except that blocks have the program's sizes.
  tile,      ///< Phase tile.
  layout,    ///< Phase layout.
  lowering,  ///< Operations of phases layout and async.
  buffered,  ///< Like lowering, but accesses through descriptors are copies.
  async,     ///< Phase async.
  ringed,    ///< Like scheduled, but roles may iterate over programs and pass blocks through rings.
  scheduled, ///< Phase scheduled.
  allocated  ///< Phase allocated.
};

/// Returns the name of the form's phase, or of the phases between which it lies.
llvm::StringRef nameOf(Form form);

/// Emits an error about the first operation that violates the form; the message begins with `prefix`.
mlir::LogicalResult verifyForm(KernelOp kernel, Form form, const llvm::Twine &prefix);

/// Does the same as verifyForm for a pass that requires the form.
mlir::LogicalResult verifyRequired(KernelOp kernel, Form form, llvm::StringRef pass);

/// The forms that a pass requires and ensures. The pass checks its input, unless the previous passes are known to
/// ensure the required form.
class FormContract {
public:
  FormContract(Form required, Form ensured) : required(required), ensured(ensured) {}
  virtual ~FormContract() = default;

  Form getRequired() const { return required; }
  /// Returns the phase that the pass completes, if it is the last one of the phase.
  std::optional<Form> getEnsuredPhase() const { return ensured == required ? std::nullopt : std::optional(ensured); }
  void trustInput() { trusted = true; }

protected:
  bool isTrusted() const { return trusted; }

private:
  Form required, ensured;
  bool trusted = false;
};

} // namespace tile
