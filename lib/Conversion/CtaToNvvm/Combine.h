// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by reductions and scans: the combine region on tuples of scalars, and shuffles of values of any width.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <optional>

namespace tile::conversion {

/// One value for each operand of the reduction or scan.
using Tuple = llvm::SmallVector<mlir::Value>;

/// The lane whose value a shuffle returns: the lane with an index, with an index XOR a mask, or at a distance below or
/// above.
enum class ShuffleSource { Lane, Xor, Below, Above };
mlir::Value emitShuffle(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Value lane,
                        ShuffleSource source);

class CombineEmitter {
public:
  CombineEmitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block &combineBlock)
      : builder(builder), loc(loc), combineBlock(combineBlock) {}

  Tuple combine(const Tuple &left, const Tuple &right);
  /// Combines with the values of all lanes whose indices differ in some of these bits; all of them get the result of
  /// the lowest one, which has combined them in order.
  Tuple combineLanes(Tuple own, llvm::ArrayRef<unsigned> laneBits);
  /// Combines all lanes of a warp, if there is an instruction for it: for integers of at most 32 bits (PTX ISA,
  /// redux.sync).
  std::optional<Tuple> combineWarp(const Tuple &own);
  /// Returns the values of lane `lane`.
  Tuple shuffleFrom(const Tuple &tuple, mlir::Value lane);
  /// Returns the values of the lane at this distance below, or above; of an arbitrary lane if there is none.
  Tuple shuffleBy(const Tuple &tuple, int64_t lanes, bool isFromAbove);

private:
  /// Returns true if combine(a, b) equals combine(b, a) for all values.
  bool isCommutative() const;
  bool mapConstants(mlir::Operation &op, mlir::IRMapping &mapping);
  /// Combines with the values of the lane whose index differs in one bit. Both lanes get the same result: if the order
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
