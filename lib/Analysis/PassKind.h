// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pass is for, which its declaration says.
#pragma once

namespace tile {

enum class PassKind {
  Correctness, ///< Every pipeline runs it, -O0 too.
  Optimisation ///< Can be disabled by name, and the result computes the same.
};

/// Of all passes that are declared here; those of MLIR say nothing.
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
