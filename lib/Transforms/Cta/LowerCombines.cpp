// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-lower-combines: reduce partial accumulators of CTAs that split K.
//
// The first CTA of a cluster receives the others' accumulators through distributed shared memory, in the order of
// ranks, and finishes the program. Unlike stream-K this needs no global memory, no flags and no schedule, but it splits
// all programs in the same way:
//
//   { A; acc = …; B(combine acc) }   ==>   { A; acc = …; sum = cluster_sum acc; if rank == 0 { B(sum) } }
//
// With a shared tail (Cta/StreamSegments.h), a helper executes one or more pieces, each a range of the steps of one
// program. For each piece it stores its accumulator to global memory and sets a flag. The owner adds these accumulators
// to its own in a fixed order, so that the result is deterministic, and finishes the program. It waits only for CTAs
// with lower indices, which started earlier and never wait, so there is no deadlock even if not all CTAs are resident:
//
//   { A; for k = first … end: acc += …; B(combine acc) }
//   ==>
//   { A; for k = first … end: acc += …
//     if first == 0 { for each piece: wait; acc += its acc; B(acc) } else { store acc; set flag } }
//
// Runs before other passes measure the remaining shared memory. In a kernel that is not persistent, each CTA executes
// only one program, so the program becomes the kernel's body again.
#include "Transforms/Cta/LowerCombines.h"

#include "Layout/SharedLayouts.h"
#include "Target/GpuTarget.h"
#include "Transforms/I32Arith.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {
#define GEN_PASS_DEF_CTALOWERCOMBINES
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

cta::BufferType tile::planExchangeBuffer(RankedTensorType sum, int64_t ctas) {
  const layout::LinearLayout &layout = cta::getLayout(sum);
  int64_t words = layout.numRegisters() * layout.numWarps() * target::threadsPerWarp;
  MLIRContext *context = sum.getContext();
  auto linear = cta::LayoutAttr::get(context, layout::swizzledShared({words}, 4, {0}, /*swizzleBytes=*/0));
  return cta::BufferType::get(context, {words}, sum.getElementType(), linear, /*slots=*/ctas - 1);
}

namespace {

/// Reduces the partial accumulators of a program one at a time, and lets one CTA execute the remainder of the program.
class CombinesLowering {
public:
  CombinesLowering(KernelOp kernel, ProgramsOp programs)
      : kernel(kernel), programs(programs), rewriter(programs), loc(programs.getLoc()),
        combines(programs.getBody().getOps<cta::CombineOp>()) {
    rewriter.setInsertionPointAfter(combines.back());
  }

  void run() {
    if (programs.getWork().getTail())
      lowerTail();
    else
      lowerSplit();
    for (cta::CombineOp combine : combines)
      rewriter.eraseOp(combine);
    if (!programs.getWork().getPersistent())
      inlineProgram();
  }

private:
  /// The buffer in which the CTAs of a cluster reduce one accumulator after another, and the barriers of the buffer.
  /// The buffer has the size of the largest accumulator.
  struct Exchange {
    Value memory, sent, taken;
  };

  Exchange allocateExchange(int64_t ctas) {
    OpBuilder::InsertionGuard guard(rewriter);
    cta::BufferType largest;
    for (cta::CombineOp combine : combines) {
      cta::BufferType type = planExchangeBuffer(cast<RankedTensorType>(combine.getType()), ctas);
      if (!largest || largest.getBytes() < type.getBytes())
        largest = type;
    }
    auto barrier = cta::MbarrierType::get(kernel.getContext(), /*slots=*/1);
    rewriter.setInsertionPointToStart(&kernel.getBody().front());
    Exchange exchange;
    exchange.memory = cta::AllocOp::create(rewriter, loc, largest, /*offset=*/IntegerAttr());
    exchange.sent = cta::MbarrierAllocOp::create(rewriter, loc, barrier, /*arrivals=*/1, /*offset=*/IntegerAttr());
    exchange.taken =
        cta::MbarrierAllocOp::create(rewriter, loc, barrier, kernel.getNumWarps(), /*offset=*/IntegerAttr());
    return exchange;
  }

  void lowerSplit() {
    I32Arith n(rewriter, loc);
    int64_t ctas = programs.getWork().getSplitK();
    Exchange exchange = allocateExchange(ctas);
    // A persistent kernel counts exchanges across all programs of a CTA, so the parity is assigned when programs become
    // loops.
    Value parity = programs.getWork().getPersistent() ? Value() : n.constant(0);
    for (cta::CombineOp combine : combines) {
      Value sum = cta::ClusterSumOp::create(rewriter, loc, combine.getValue(), exchange.memory, exchange.sent,
                                            exchange.taken, parity, ctas);
      rewriter.replaceAllUsesWith(combine.getResult(), sum);
      if (parity)
        parity = n.flip(parity);
    }
    finishIf(n.equal(programs.getFirstStep(), n.constant(0)), /*withElseRegion=*/false);
    // No CTA exits while its peers need its shared memory.
    rewriter.setInsertionPoint(kernel.getBody().front().getTerminator());
    cta::ClusterBarrierOp::create(rewriter, loc);
  }

  /// Guards the remainder of the program: only the CTA with the first step executes it.
  scf::IfOp finishIf(Value isFirst, bool withElseRegion) {
    auto branch = scf::IfOp::create(rewriter, loc, isFirst, withElseRegion);
    Block *finish = branch.thenBlock(), *body = branch->getBlock();
    finish->getOperations().splice(finish->begin(), body->getOperations(), std::next(branch->getIterator()),
                                   body->getTerminator()->getIterator());
    return branch;
  }

  void lowerTail() {
    I32Arith n(rewriter, loc);
    Value scratch = addScratch();
    scf::IfOp branch = finishIf(n.equal(programs.getFirstStep(), n.constant(0)), /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    for (auto [combine, sum] : llvm::zip_equal(combines, emitSumsOfPieces(scratch)))
      rewriter.replaceAllUsesWith(combine.getResult(), sum);

    rewriter.setInsertionPointToStart(branch.elseBlock());
    int64_t offset = flagBytes;
    for (cta::CombineOp combine : combines) {
      cta::PartialStoreOp::create(rewriter, loc, combine.getValue(), emitAddress(scratch, programs.getPiece(), offset),
                                  combine.getColumnsAttr());
      offset += countBytes(combine);
    }
    cta::BarrierOp::create(rewriter, loc, /*groups=*/false);
    cta::FlagSetOp::create(rewriter, loc, emitAddress(scratch, programs.getPiece(), 0));
  }

  /// Emits the sums of the owner's accumulators and its helpers' accumulators. A helper with pieces of two programs
  /// executes the piece at the end of a program first, so the pieces at the end are added first.
  ValueRange emitSumsOfPieces(Value scratch) {
    I32Arith n(rewriter, loc);
    SmallVector<Value> own;
    for (cta::CombineOp combine : combines)
      own.push_back(combine.getValue());
    auto loop = scf::ForOp::create(rewriter, loc, n.constant(0), programs.getNumPieces(), n.constant(1), own);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    Value piece = n.sub(programs.getPiece(), loop.getInductionVar());
    cta::FlagWaitOp::create(rewriter, loc, emitAddress(scratch, piece, 0));
    cta::BarrierOp::create(rewriter, loc, /*groups=*/false);
    SmallVector<Value> sums;
    int64_t offset = flagBytes;
    for (auto [combine, sum] : llvm::zip_equal(combines, loop.getRegionIterArgs())) {
      sums.push_back(
          cta::PartialAddOp::create(rewriter, loc, sum, emitAddress(scratch, piece, offset), combine.getColumnsAttr()));
      offset += countBytes(combine);
    }
    scf::YieldOp::create(rewriter, loc, sums);
    return loop.getResults();
  }

  /// The size of a piece's flag, which occupies a separate cache line. The accumulators of the piece follow the flag.
  /// There are fewer pieces than CTAs.
  static constexpr int64_t flagBytes = 128;

  static int64_t countBytes(cta::CombineOp combine) {
    auto type = cast<RankedTensorType>(combine.getType());
    size_t registers = cta::registersInColumns(type, combine.getColumns()).size();
    return registers * cta::getLayout(type).numWarps() * target::threadsPerWarp * 4;
  }

  int64_t countBytesOfPiece() {
    int64_t bytes = flagBytes;
    for (cta::CombineOp combine : combines)
      bytes += countBytes(combine);
    return bytes;
  }

  Value addScratch() {
    unsigned index = kernel.getNumArguments();
    auto attributes = rewriter.getDictionaryAttr(
        {rewriter.getNamedAttr(scratchAttrName, rewriter.getI64IntegerAttr(countBytesOfPiece())),
         rewriter.getNamedAttr(sharesTailsAttrName, rewriter.getUnitAttr())});
    auto type = PtrType::get(kernel.getContext(), rewriter.getI8Type());
    (void)kernel.insertArgument(index, type, attributes, loc);
    return kernel.getArgument(index);
  }

  /// Emits the address of a piece in the scratch memory, `offset` bytes from its start.
  Value emitAddress(Value scratch, Value piece, int64_t offset) {
    Type i64 = rewriter.getI64Type();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(rewriter, loc, rewriter.getI64IntegerAttr(value));
    };
    Value bytes = arith::MulIOp::create(rewriter, loc, arith::ExtUIOp::create(rewriter, loc, i64, piece),
                                        constant(countBytesOfPiece()));
    if (offset != 0)
      bytes = arith::AddIOp::create(rewriter, loc, bytes, constant(offset));
    return AddPtrOp::create(rewriter, loc, scratch, bytes);
  }

  /// Inlines the program into the kernel's body, with one cluster per program along the first axis.
  void inlineProgram() {
    rewriter.setInsertionPoint(programs);
    Value rank = cta::ClusterRankOp::create(rewriter, loc);
    SmallVector<Value> arguments{cta::ClusterIdOp::create(rewriter, loc), ProgramIdOp::create(rewriter, loc, 1),
                                 ProgramIdOp::create(rewriter, loc, 2),
                                 arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true)), rank};
    rewriter.eraseOp(programs.getBody().front().getTerminator());
    rewriter.inlineBlockBefore(&programs.getBody().front(), programs, arguments);
    rewriter.eraseOp(programs);
  }

  KernelOp kernel;
  ProgramsOp programs;
  IRRewriter rewriter;
  Location loc;
  SmallVector<cta::CombineOp> combines; ///< Consecutive.
};

/// Emits an error and fails unless programs with shared steps have cta.combine operations, all of them consecutive.
LogicalResult verifyCombines(ProgramsOp programs) {
  auto all = programs.getBody().getOps<cta::CombineOp>();
  if (all.empty())
    return programs.emitOpError() << "has no cta.combine; CTAs that share its K steps need one";
  for (cta::CombineOp combine : all)
    if (combine != *all.begin() && !isa<cta::CombineOp>(combine->getPrevNode()))
      return combine.emitOpError() << "follows '" << combine->getPrevNode()->getName()
                                   << "'; the cta.combine operations of a program must be consecutive";
  return success();
}

struct CtaLowerCombines : tile::impl::CtaLowerCombinesBase<CtaLowerCombines> {
  void runOnKernel() override {
    for (ProgramsOp programs : llvm::make_early_inc_range(getOperation().getBody().front().getOps<ProgramsOp>())) {
      if (!programs.getWork().splitsSteps())
        continue;
      if (failed(verifyCombines(programs)))
        return signalPassFailure();
      CombinesLowering(getOperation(), programs).run();
    }
  }
};

} // namespace
