// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop's body with products of warp groups as nodes: what each operation is, and what must come before it.
//
//   %t = cta.ring_wait %ring      light: needed by what reads the buffers of the slot
//   %s, %u = cta.wgmma %q, %k     product
//   %r = cta.await %s after %u    await
//   cta.ring_release %ring[%t]    release: needs what awaits the readers of those buffers
//   cta.barrier                   order: needs all accesses to memory before it, and is needed by those after it
#pragma once

#include "Analysis/ProductSchedule.h"
#include "Cta/CtaDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tile {

/// Values that the operation uses, regions included.
llvm::SetVector<mlir::Value> getUsedValues(mlir::Operation *op);

class LoopGraph {
public:
  explicit LoopGraph(mlir::scf::ForOp loop) : loop(loop), body(loop.getBody()) {}
  /// Of a program that multiplies without a loop.
  explicit LoopGraph(ProgramsOp programs) : body(&programs.getBody().front()) {}

  /// False if it has no products, one is not awaited in its iteration, or it does what nodes cannot say.
  bool build();

  /// The iteration argument's number; none for other values.
  std::optional<unsigned> getArgument(mlir::Value value) const;

  /// The node that makes it; none for what the loop does not make.
  std::optional<unsigned> getNode(mlir::Value value) const;

  /// The node that makes it or, of an iteration argument, what becomes it in a later iteration.
  std::optional<unsigned> getSource(mlir::Value value) const;

  /// The node after which `index` no longer reads shared memory: of a product that which awaits it.
  unsigned getEnd(unsigned index) const;

  bool writesShared(unsigned index) const;

  /// Whether `first` may access the slot of a buffer that `second` does so many iterations later. The loop goes through
  /// slots in turns, as cta-pipeline leaves it; else it may.
  bool mayShareSlot(unsigned first, unsigned second, mlir::Operation *buffer, unsigned iterations) const;

  mlir::scf::ForOp loop; ///< Null for a program.
  mlir::Block *body;
  llvm::SmallVector<mlir::Operation *> operations;
  llvm::SmallVector<LoopNode> nodes;
  /// Of each buffer that is not of a ring, the nodes that access it.
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<unsigned>> accesses;

private:
  LoopNodeKind findKind(mlir::Operation *op);
  void need(unsigned index, unsigned other);
  bool addValues(unsigned index);
  bool accumulates(cta::WgmmaOp product) const;
  bool addMemory(unsigned index);
  void addBuffers(unsigned index);

  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
};

} // namespace tile
