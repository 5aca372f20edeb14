// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the lowerings of reductions and scans: the combine region applied to tuples of scalars, and shuffles of
// values of any width.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <optional>

namespace tile::conversion {

/// One value for each operand of the reduction or scan.
using Tuple = llvm::SmallVector<mlir::Value>;

/// Which lane a shuffle reads: the lane with index `lane`, the lane whose index is this lane's XOR `lane`, or the lane
/// that is `lane` positions below or above.
enum class ShuffleSource { Lane, Xor, Below, Above };
mlir::Value emitShuffle(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Value lane,
                        ShuffleSource source);

class CombineEmitter {
public:
  CombineEmitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block &combineBlock)
      : builder(builder), loc(loc), combineBlock(combineBlock) {}

  Tuple combine(const Tuple &left, const Tuple &right);
  /// Combines the values of all lanes whose indices differ only in `laneBits`. All of these lanes get the same result,
  /// in which the values are combined in lane order if the order matters.
  Tuple combineLanes(Tuple own, llvm::ArrayRef<unsigned> laneBits);
  /// Combines the values of all lanes of a warp with redux.sync, which supports integers of at most 32 bits (PTX ISA).
  /// Returns nullopt if redux.sync does not support the operation or the type.
  std::optional<Tuple> combineWarp(const Tuple &own);
  /// Returns the values of lane `lane`.
  Tuple shuffleFrom(const Tuple &tuple, mlir::Value lane);
  /// Returns the values of the lane that is `lanes` positions below or above this lane. If there is no such lane,
  /// returns the values of an arbitrary lane.
  Tuple shuffleBy(const Tuple &tuple, int64_t lanes, bool isFromAbove);

private:
  /// Returns true if combine(a, b) equals combine(b, a) for all values.
  bool isCommutative() const;
  bool mapConstants(mlir::Operation &op, mlir::IRMapping &mapping);
  /// Combines this lane's values with those of the lane whose index differs in bit `laneBit`. Both lanes get the same
  /// result: if the order matters (for ties or rounding), the values of the lower lane come first.
  Tuple combineAcross(const Tuple &own, unsigned laneBit);
  mlir::Value shuffle(mlir::Value value, mlir::Value lane, ShuffleSource source);
  mlir::Value addUncontracted(mlir::Value own, mlir::Value other);
  Tuple shuffleXor(const Tuple &tuple, unsigned laneBit);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Block &combineBlock;
};

} // namespace tile::conversion
