// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See EmptyDescriptors.h.
#include "Transforms/Tile/EmptyDescriptors.h"

#include "Analysis/Addresses/BlockPointers.h"
#include "Transforms/I32Arith.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

/// A coordinate beyond the end of a dimension of one element. The coordinates of a block of up to 256 elements that
/// begins there still fit into 32 bits.
constexpr int32_t outside = 1 << 30;

void tile::keepOutsideEmpty(MakeDescOp desc) {
  for (Operation *access : desc->getUsers()) {
    if (!isa<DescLoadOp, DescStoreOp>(access))
      continue;
    // Operand 0 is the descriptor; one coordinate per dimension follows.
    for (auto [dim, size] : llvm::enumerate(desc.getShape())) {
      OpOperand &coordinate = access->getOpOperand(dim + 1);
      if (APInt constant; matchPattern(size, m_ConstantInt(&constant)) && constant.isStrictlyPositive())
        continue;
      if (!isKnownAtLaunch(coordinate.get()))
        continue;
      OpBuilder builder(access);
      Location loc = access->getLoc();
      Value isEmpty = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, size, emitI32(builder, loc, 0));
      coordinate.set(arith::SelectOp::create(builder, loc, isEmpty, emitI32(builder, loc, outside), coordinate.get()));
    }
  }
}
