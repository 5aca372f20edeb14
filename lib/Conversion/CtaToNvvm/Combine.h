// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What reductions and scans share: the combine region on tuples of scalars, and shuffles of values of any width.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <optional>

namespace tile::conversion {

/// One value for each operand of the reduction or scan.
using Tuple = llvm::SmallVector<mlir::Value>;

/// Whose value a lane gets: of the lane with a number, with a number that differs in a mask, or so many away.
enum class ShuffleSource { Lane, Xor, Below, Above };
mlir::Value emitShuffle(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Value lane,
                        ShuffleSource source);

class CombineEmitter {
public:
  CombineEmitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block &combineBlock)
      : builder(builder), loc(loc), combineBlock(combineBlock) {}

  Tuple combine(const Tuple &left, const Tuple &right);
  /// Combined with the values of all lanes whose numbers differ in some of these bits; all of them get the result of the
  /// lowest one, which has combined them in order.
  Tuple combineLanes(Tuple own, llvm::ArrayRef<unsigned> laneBits);
  /// The combination of all lanes of a warp, if there is an instruction for it: of integers of at most 32 bits (PTX
  /// ISA, redux.sync).
  std::optional<Tuple> combineWarp(const Tuple &own);
  /// The values of lane number `lane`.
  Tuple shuffleFrom(const Tuple &tuple, mlir::Value lane);
  /// The values of the lane that is so many below, or above; where there is none, of any.
  Tuple shuffleBy(const Tuple &tuple, int64_t lanes, bool isFromAbove);

private:
  /// combine(a, b) is combine(b, a), whatever the values.
  bool isCommutative() const;
  bool mapConstants(mlir::Operation &op, mlir::IRMapping &mapping);
  /// Combined with the values of the lane whose number differs in one bit. Both lanes get the same: where the order
  /// matters (ties, rounding), the values of the lower lane come first.
  Tuple combineAcross(const Tuple &own, unsigned laneBit);
  mlir::Value shuffle(mlir::Value value, mlir::Value lane, ShuffleSource source);
  mlir::Value addUncontracted(mlir::Value own, mlir::Value other);
  Tuple shuffleXor(const Tuple &tuple, unsigned laneBit);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Block &combineBlock;
};

} // namespace tile::conversion
