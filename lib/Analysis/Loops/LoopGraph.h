// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dependence graph of a loop body with wgmmas. It stores the kind and the predecessors of each operation.
//
//   %t = cta.ring_wait %ring      light: precedes the readers of the slot's buffers
//   %s, %u = cta.wgmma %q, %k     MMA
//   %r = cta.await %s after %u    await
//   cta.ring_release %ring[%t]    release: follows the awaits of the readers of those buffers
//   cta.barrier                   order: follows all preceding memory accesses, and precedes the following ones
#pragma once

#include "Analysis/Loops/MmaSchedule.h"
#include "Cta/CtaDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tile {

/// Returns the values that the operation and its regions use.
llvm::SetVector<mlir::Value> getUsedValues(mlir::Operation *op);

class LoopGraph {
public:
  explicit LoopGraph(mlir::scf::ForOp loop) : loop(loop), body(loop.getBody()) {}
  /// Prepares the graph of a program with MMAs outside of loops.
  explicit LoopGraph(ProgramsOp programs) : body(&programs.getBody().front()) {}

  /// Builds the graph. Returns false if there are no wgmmas, if a wgmma is not awaited in its own iteration, or if an
  /// operation cannot be represented by a node.
  bool build();

  /// Returns the index of an iteration argument; nullopt for other values.
  std::optional<unsigned> getArgument(mlir::Value value) const;

  /// Returns the node that produces the value; nullopt for values from outside the loop.
  std::optional<unsigned> getNode(mlir::Value value) const;

  /// Returns the node that produces the value. For an iteration argument, returns the node that produces its value in a
  /// later iteration.
  std::optional<unsigned> getSource(mlir::Value value) const;

  /// Returns the node after which node `index` no longer reads shared memory. For an MMA, this is the node that awaits
  /// it.
  unsigned getEnd(unsigned index) const;

  bool writesShared(unsigned index) const;

  /// Returns true if `first` may access the slot of a buffer that `second` accesses `iterations` iterations later.
  /// Slots are known to differ only if the loop cycles through them, as cta-pipeline arranges.
  bool mayShareSlot(unsigned first, unsigned second, mlir::Operation *buffer, unsigned iterations) const;

  mlir::scf::ForOp loop; ///< The loop; null for a program.
  mlir::Block *body;
  llvm::SmallVector<mlir::Operation *> operations;
  llvm::SmallVector<LoopNode> nodes;
  /// For each buffer outside of rings, the nodes that access it.
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<unsigned>> accesses;

private:
  LoopNodeKind findKind(mlir::Operation *op);
  void need(unsigned index, unsigned other);
  bool addValues(unsigned index);
  bool accumulates(cta::WgmmaOp mma) const;
  bool addMemory(unsigned index);
  void addBuffers(unsigned index);

  llvm::DenseMap<mlir::Operation *, unsigned> indices;
};

} // namespace tile
