// What reductions and scans share: the combine region on tuples of scalars, and shuffles of values of any width.
#pragma once

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// One value for each operand of the reduction or scan.
using Tuple = llvm::SmallVector<mlir::Value>;

class CombineEmitter {
public:
  CombineEmitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block &combineBlock)
      : builder(builder), loc(loc), combineBlock(combineBlock) {}

  Tuple combine(const Tuple &left, const Tuple &right);
  /// The values of the lane whose number differs in one bit.
  Tuple shuffleXor(const Tuple &tuple, unsigned laneBit);
  /// The values of lane number `lane`.
  Tuple shuffleFrom(const Tuple &tuple, mlir::Value lane);

private:
  mlir::Value shuffle(mlir::Value value, mlir::Value lane, bool isXor);
  mlir::Value shuffleWord(mlir::Value word, mlir::Value lane, bool isXor);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Block &combineBlock;
};

} // namespace tile::conversion
