// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies from global to shared memory (PTX ISA, "cp.async").
//
// `vector` has the same contract as in Memory.cpp; in addition, the registers of a group must have consecutive offsets
// in the buffer. If the mask is false, zeros are written and the source is not read. Eviction priorities are ignored:
// with a cache policy, the code that ptxas generates for some of these instructions fails with
// CUDA_ERROR_ILLEGAL_INSTRUCTION.
#include "EmitLayout.h"
#include "GlobalAccess.h"
#include "Patterns.h"
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <bit>

using namespace mlir;
using tile::layout::LinearLayout;

namespace tile::conversion {

namespace {

Value emitNot(OpBuilder &builder, Location loc, Value condition) {
  Value yes = arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1);
  return arith::XOrIOp::create(builder, loc, condition, yes);
}

LinearLayout offsetsOf(cta::AsyncCopyOp op) {
  return layout::memoryOffsets(cta::getLayout(op.getPtr().getType()), op.getBuffer().getType().getLayout().getLayout());
}

/// Returns true if, in every thread, the registers r … r + vector - 1 with r % vector == 0 have consecutive offsets,
/// the first of which is a multiple of `vector`.
bool hasConsecutiveGroups(const LinearLayout &offsets, uint64_t vector) {
  if (offsets.numRegisters() < int64_t(vector))
    return false;
  ThreadMap map = ThreadMap::flat(offsets);
  for (size_t bit = 0; bit < map.registers.size(); ++bit) {
    uint64_t step = uint64_t(1) << bit;
    if (step < vector ? map.registers[bit] != step : map.registers[bit] % vector != 0)
      return false;
  }
  return llvm::all_of(map.threads, [&](uint64_t basis) { return basis % vector == 0; });
}

struct AsyncCopyLowering : OpConversionPattern<cta::AsyncCopyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::AsyncCopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const LinearLayout &layout = cta::getLayout(op.getPtr().getType());
    unsigned elementBytes = getBytesInMemory(op.getBuffer().getType().getElementType());
    int32_t bytes = int32_t(op.getVector() * elementBytes);
    OffsetEmitter offsets(rewriter, loc, ThreadMap::flat(offsetsOf(op), elementBytes));
    std::vector<int32_t> canonical = canonicalRegisters(layout);
    Value isFirst = emitIsFirstCopy(rewriter, loc, layout);
    // 16-byte copies can bypass L1 (cg); smaller copies always go through L1 (ca).
    bool throughL1 = bytes != 16 || op.getCache() == CacheModifier::ca;

    for (int32_t first = 0; first < layout.numRegisters(); first += int32_t(op.getVector())) {
      if (canonical[first] != first)
        continue;
      Value target = offsets.addressOfRegister(adaptor.getBuffer().front(), first), source = adaptor.getPtr()[first];
      Value mask = op.getMask() ? dropTrue(adaptor.getMask()[first]) : Value();
      if (!isFirst && !mask) {
        NVVM::CpAsyncOp::create(rewriter, loc, target, source, bytes,
                                throughL1 ? NVVM::LoadCacheModifierKind::CA : NVVM::LoadCacheModifierKind::CG,
                                /*cpSize=*/Value());
        continue;
      }
      // The NVVM operation has no predicate, and it takes a source size instead of `ignore-src`.
      PtxStatement statement;
      statement.operands = {target, source};
      auto addOperand = [&](Value operand) {
        statement.operands.push_back(operand);
        return "$" + std::to_string(statement.operands.size() - 1);
      };
      statement.text =
          std::string("cp.async.") + (throughL1 ? "ca" : "cg") + ".shared.global [$0], [$1], " + std::to_string(bytes);
      if (mask)
        statement.text += ", " + addOperand(emitNot(rewriter, loc, mask));
      statement.text += ";";
      if (isFirst)
        statement.text = "@" + addOperand(isFirst) + " " + statement.text;
      emitPtx(rewriter, loc, statement);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct AsyncCommitLowering : OpConversionPattern<cta::AsyncCommitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::AsyncCommitOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncCommitGroupOp>(op);
    return success();
  }
};

struct AsyncWaitLowering : OpConversionPattern<cta::AsyncWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::AsyncWaitOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncWaitGroupOp>(op, op.getPending());
    return success();
  }
};

} // namespace

static LogicalResult checkAsyncCopy(cta::AsyncCopyOp op, const target::GpuTarget &gpu) {
  if (failed(checkWholeTile(op, op.getBuffer().getType())))
    return failure();
  if (!gpu.has(target::Feature::AsyncCopy))
    return op.emitOpError() << "needs cp.async, which " << gpu.name << " lacks; sm_80 and later have it";
  if (!hasConsecutiveGroups(offsetsOf(op), op.getVector()))
    return op.emitOpError() << "moves " << op.getVector()
                            << " elements with one instruction, but their offsets in the buffer are not consecutive";
  return success();
}

void registerAsyncCopyLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<AsyncCopyLowering, AsyncCommitLowering, AsyncWaitLowering>(lowerings.converter,
                                                                                    lowerings.context);
  lowerings.check<cta::AsyncCopyOp>(checkAsyncCopy);
}

} // namespace tile::conversion
