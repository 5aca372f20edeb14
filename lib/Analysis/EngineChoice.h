// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the engine of a dot. Two passes query it; all others read the dot's `engine`.
//
// wgmma is chosen wherever types and sizes allow, whatever the source of the operands. But tensor maps are created only
// for wgmma operands, and only TMA operands may have sizes that are not powers of two, rows and columns in swapped
// roles, and the order in memory. So the choice is made before the passes that create descriptors, assuming that
// descriptors can load the operands; it is revised where they cannot, or where sizes are padded.
#pragma once

#include "Analysis/RaisableAccesses.h"
#include "Cta/CtaDialect.h"

#include "llvm/ADT/SetVector.h"

#include <string>

namespace tile {

/// Chooses the engines of a kernel's dots, in program order: earlier dots get shared memory for operands first.
class EngineChooser {
public:
  /// With `accesses`, operands are assumed to come through descriptors where possible; without, their actual sources
  /// count.
  EngineChooser(const target::GpuTarget &target, unsigned numWarps, RaisableAccesses *accesses = nullptr)
      : target(target), numWarps(numWarps), accesses(accesses) {}

  /// Returns wgmma if the target supports it for these types and sizes; otherwise the widest mma.sync instruction that
  /// multiplies the types at the required precision; otherwise fused multiply-adds. The engine may be one for the
  /// transposed operands in swapped order (Analysis/SwappedDot.h).
  Engine choose(DotOp dot);

private:
  cta::BufferEngine chooseForBlocks(DotOp dot);
  cta::BufferEngine chooseForSources(DotOp dot);
  bool makeRoom(mlir::ArrayRef<mlir::Value> stored);
  /// Returns true if a left operand that TMA loads before a loop is read from shared memory into registers once: if
  /// instructions would take longer to read than to multiply it, and registers suffice.
  bool isHeld(DotOp dot, const SharedOperand &a, cta::BufferEngine engine);

  const target::GpuTarget &target;
  unsigned numWarps;
  RaisableAccesses *accesses;
  llvm::SetVector<mlir::Value> storedOperands;              ///< wgmma operands that threads store.
  llvm::DenseMap<mlir::Operation *, int64_t> heldRegisters; ///< Registers per thread of left operands, by loop.
};

/// Returns the engine of a dot whose operands are read from shared memory by matrix descriptors (wgmma, tcgen05); null
/// for all others.
cta::BufferEngine getBufferEngine(DotOp dot);
/// The same, but only if TMA loads b, so that tensor maps pay off, whatever the source of a.
cta::BufferEngine getEngineOfBlocks(DotOp dot);

/// Returns why wgmma does not compute a dot that has another engine, with the values involved.
std::string whyNoWgmma(DotOp dot, const target::GpuTarget &target, unsigned numWarps);
/// Returns why wgmma does not multiply TMA operands in this order, and whether it would in another one.
std::string whyNoWgmmaOfBlocks(DotOp dot, bool aTransposed, bool bTransposed, const target::GpuTarget &target,
                               unsigned numWarps);

} // namespace tile
