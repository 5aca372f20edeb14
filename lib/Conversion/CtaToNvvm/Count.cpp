// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counting in shared memory: one addition per element, executed by the first thread that holds the element (PTX ISA,
// "red").
//
//   cta.local_count %x, %b mask %m   ==>   @(x < size && m && first) red.shared.add.u32 [b + 4 * x], 1;
#include "EmitLayout.h"
#include "GlobalAccess.h"
#include "Patterns.h"
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::conversion {

namespace {

struct LocalCountLowering : OpConversionPattern<cta::LocalCountOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::LocalCountOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const layout::LinearLayout &layout = cta::getLayout(op.getSrc().getType());
    Value isFirst = emitIsFirstCopy(rewriter, loc, layout), base = adaptor.getBuffer().front();
    Value size = emitI32(rewriter, loc, op.getBuffer().getType().getShape().front());
    for (auto [index, source] : llvm::enumerate(canonicalRegisters(layout))) {
      if (source != int32_t(index))
        continue;
      Value place = adaptor.getSrc()[index];
      Value counts = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, place, size);
      counts = emitAnd(rewriter, loc, counts, isFirst);
      if (op.getMask())
        counts = emitAnd(rewriter, loc, counts, dropTrue(adaptor.getMask()[index]));
      Value address = LLVM::GEPOp::create(rewriter, loc, base.getType(), rewriter.getI32Type(), base,
                                          ArrayRef<LLVM::GEPArg>{place});
      emitPtx(rewriter, loc, {.text = "@$0 red.shared.add.u32 [$1], 1;", .operands = {counts, address}});
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

static LogicalResult checkCount(cta::LocalCountOp op, const target::GpuTarget &) {
  cta::BufferType buffer = op.getBuffer().getType();
  return failure(failed(checkWholeTile(op, buffer)) || failed(checkRowMajor(op, buffer)));
}

void registerCountLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<LocalCountLowering>(lowerings.converter, lowerings.context);
  lowerings.check<cta::LocalCountOp>(checkCount);
}

} // namespace tile::conversion
