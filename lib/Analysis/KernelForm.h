// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The forms that passes require of a kernel.
//
// A pass of the pipeline finds what the passes before it have left. A pass that is run alone, or is the first one, may
// get anything that verifies: it looks whether the kernel has the form that its declaration in Passes.td names, and
// says what is wrong instead of relying on what does not hold.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// In the order of the pipeline. Phases are the forms at its cuts; the others are what lies between two cuts.
enum class Form {
  program,   ///< Phase tile but for the sizes of blocks, which are as the program has them.
  tile,      ///< Phase tile.
  layout,    ///< Phase layout.
  lowering,  ///< Operations of phases layout and async.
  buffered,  ///< As lowering, and accesses through descriptors are copies.
  async,     ///< Phase async.
  ringed,    ///< As scheduled, and roles may go over programs and hand blocks over through rings.
  scheduled, ///< Phase scheduled.
  allocated  ///< Phase allocated.
};

/// The phase of which the form is a part or a mixture.
llvm::StringRef nameOf(Form form);

/// Emits an error about the first operation that the form does not have; it begins with `prefix`.
mlir::LogicalResult verifyForm(KernelOp kernel, Form form, const llvm::Twine &prefix);

/// The same for a pass that requires the form.
mlir::LogicalResult verifyRequired(KernelOp kernel, Form form, llvm::StringRef pass);

/// What a pass requires and leaves. It checks its input, unless the passes before it are known to have left what it
/// requires.
class FormContract {
public:
  FormContract(Form required, Form ensured) : required(required), ensured(ensured) {}
  virtual ~FormContract() = default;

  Form getRequired() const { return required; }
  /// The phase of which the pass is the last one.
  std::optional<Form> getEnsuredPhase() const { return ensured == required ? std::nullopt : std::optional(ensured); }
  void trustInput() { trusted = true; }

protected:
  bool isTrusted() const { return trusted; }

private:
  Form required, ensured;
  bool trusted = false;
};

} // namespace tile
