// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The purpose of a pass, stated in its declaration.
#pragma once

namespace tile {

enum class PassKind {
  Correctness, ///< Runs in every pipeline, even with -O0.
  Optimisation ///< Can be disabled by name without changing the results.
};

/// The base class of all passes that this project declares; MLIR's own passes have no kind.
class KindedPass {
public:
  virtual ~KindedPass() = default;
  PassKind getKind() const { return kind; }

protected:
  explicit KindedPass(PassKind kind) : kind(kind) {}

private:
  PassKind kind;
};

} // namespace tile
