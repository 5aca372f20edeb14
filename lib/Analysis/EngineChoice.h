// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What multiplies a dot. Two passes ask, all others read the dot's `engine`.
//
// Warp groups (wgmma) multiply wherever types and sizes allow, whatever brings the operands. But tensor maps are made
// for what they multiply only, and just where TMA brings the operands they take sizes that are not powers of two, rows
// and columns in exchanged roles, and the order in memory as it is. So the choice is made as descriptors could bring
// the operands, before the passes that make descriptors, and corrected where they do not, or sizes are padded.
#pragma once

#include "Analysis/RaisableAccesses.h"
#include "Cta/CtaDialect.h"

#include "llvm/ADT/SetVector.h"

#include <string>

namespace tile {

/// Chooses the engines of a kernel's dots, in program order: those that share the room for operands come first.
class EngineChooser {
public:
  /// With `accesses`, operands come as descriptors could bring them; without, as they do.
  EngineChooser(const target::GpuTarget &target, unsigned numWarps, RaisableAccesses *accesses = nullptr)
      : target(target), numWarps(numWarps), accesses(accesses) {}

  /// Warp groups where the target has them for these types and sizes; else the widest instruction of warps that
  /// multiplies the types exactly as the precision asks; else fused multiply-adds. The engine may be one that
  /// multiplies the transposed operands in the other order (Analysis/SwappedDot.h).
  Engine choose(DotOp dot);

private:
  cta::WgmmaAttr chooseForBlocks(DotOp dot);
  cta::WgmmaAttr chooseWgmma(DotOp dot);
  bool makeRoom(mlir::ArrayRef<mlir::Value> stored);
  /// Whether a left operand that TMA brings before a loop is read from shared memory once, into registers: where
  /// instructions would read it for longer than they multiply, and registers suffice.
  bool isHeld(DotOp dot, const SharedOperand &a, cta::WgmmaAttr engine);

  const target::GpuTarget &target;
  unsigned numWarps;
  RaisableAccesses *accesses;
  llvm::SetVector<mlir::Value> storedOperands;              ///< Of warp groups, by threads.
  llvm::DenseMap<mlir::Operation *, int64_t> heldRegisters; ///< Of a thread, for left operands, over each loop.
};

/// The engine of a dot that warp groups multiply; null for all others.
cta::WgmmaAttr getWgmma(DotOp dot);
/// The same, if TMA brings b, so that tensor maps pay, whatever brings a.
cta::WgmmaAttr getWgmmaOfBlocks(DotOp dot);

/// What warp groups lack to multiply a dot of theirs that has another engine, with numbers.
std::string whyNoWgmma(DotOp dot, const target::GpuTarget &target, unsigned numWarps);
/// What they lack to multiply operands that TMA brings, in this order: whether they would in another one.
std::string whyNoWgmmaOfBlocks(DotOp dot, bool aTransposed, bool bTransposed, const target::GpuTarget &target,
                               unsigned numWarps);

} // namespace tile
