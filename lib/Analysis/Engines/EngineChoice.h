// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the engine of a dot. Two passes query it; all others read the dot's `engine`.
//
// wgmma is chosen wherever types and sizes allow it, whatever the source of the operands. But tensor maps are created
// only for wgmma operands, and some options exist only for operands that TMA copies: sizes that are not powers of two,
// swapped operands, and a choice of the memory layout. So the engine is chosen before the passes that create
// descriptors, assuming that descriptors can load the operands. Where they cannot, or where sizes are padded, the
// engine is chosen again.
#pragma once

#include "Analysis/Engines/RaisableAccesses.h"
#include "Cta/CtaDialect.h"

#include "llvm/ADT/SetVector.h"

#include <string>

namespace tile {

/// Chooses the engines of a kernel's dots in program order, so that the operands of earlier dots get shared memory
/// first.
class EngineChooser {
public:
  /// With `accesses`, operands are assumed to come through descriptors where possible; without it, only their actual
  /// sources matter.
  EngineChooser(const target::GpuTarget &target, unsigned numWarps, RaisableAccesses *accesses = nullptr)
      : target(target), numWarps(numWarps), accesses(accesses) {}

  /// Returns wgmma if the target supports it for these types and sizes; otherwise the widest mma.sync instruction that
  /// multiplies the types at the required precision; otherwise fused multiply-adds. The engine may be one for the
  /// transposed operands in swapped order (Analysis/Dots/SwappedDot.h).
  Engine choose(DotOp dot);

private:
  cta::BufferEngine chooseForBlocks(DotOp dot);
  cta::BufferEngine chooseForSources(DotOp dot);
  bool makeRoom(mlir::ArrayRef<mlir::Value> stored);
  /// Returns true if a left operand that TMA loads before a loop should be read from shared memory into registers only
  /// once: instructions would take longer to read it than the MMA takes, and there are enough registers.
  bool isHeld(DotOp dot, const SharedOperand &a, cta::BufferEngine engine);

  const target::GpuTarget &target;
  unsigned numWarps;
  RaisableAccesses *accesses;
  llvm::SetVector<mlir::Value> storedOperands; ///< wgmma operands that threads store.
  /// Registers per thread that held left operands take, by loop.
  llvm::DenseMap<mlir::Operation *, int64_t> heldRegisters;
};

/// Returns the dot's engine if the engine reads operands from shared memory through matrix descriptors (wgmma,
/// tcgen05); null otherwise.
cta::BufferEngine getBufferEngine(DotOp dot);
/// Like getBufferEngine, but returns null unless TMA loads `b`. If TMA loads `b`, tensor maps pay off whatever the
/// source of `a`.
cta::BufferEngine getEngineOfBlocks(DotOp dot);

/// Returns why a dot that was assigned another engine cannot use wgmma, with the values involved.
std::string whyNoWgmma(DotOp dot, const target::GpuTarget &target, unsigned numWarps);
/// Returns why wgmma cannot read TMA operands with these memory layouts, and whether it could with others.
std::string whyNoWgmmaOfBlocks(DotOp dot, bool aTransposed, bool bTransposed, const target::GpuTarget &target,
                               unsigned numWarps);

} // namespace tile
