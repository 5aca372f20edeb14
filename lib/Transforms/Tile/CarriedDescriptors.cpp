// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splits a descriptor that branches or loops yield into the base, sizes and strides that it is made of:
//
//   %d = scf.if %c -> !tile.desc<..> {           %p, %m, %n, %ld = scf.if %c -> !tile.ptr<..>, i32, i32, i64 {
//     yield (tile.make_desc %b, ...)       ==>     yield %b, ...
//   } else { yield %first }                      } else { yield ... }
//                                                %d = tile.make_desc %p, [%m, %n], [%ld, 1]
//
// The last stride is always 1 and is not yielded.
#include "CarriedDescriptors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace tile;

namespace {

bool isOnlyAccessed(MakeDescOp desc) {
  return llvm::all_of(desc->getUsers(), llvm::IsaPred<DescLoadOp, DescStoreOp>);
}

/// Converts a descriptor type to the types of its parts: base, sizes, and all strides but the last.
struct PartsConverter : TypeConverter {
  PartsConverter() {
    addConversion([](Type type) { return type; });
    addConversion([](DescType type, SmallVectorImpl<Type> &parts) -> std::optional<LogicalResult> {
      size_t rank = type.getShape().size();
      parts.push_back(PtrType::get(type.getContext(), type.getElementType()));
      parts.append(rank, IntegerType::get(type.getContext(), 32));
      parts.append(rank - 1, IntegerType::get(type.getContext(), 64));
      return success();
    });
    addSourceMaterialization([](OpBuilder &builder, DescType type, ValueRange parts, Location loc) -> Value {
      size_t rank = type.getShape().size();
      SmallVector<Value> strides(parts.drop_front(1 + rank));
      strides.push_back(arith::ConstantIntOp::create(builder, loc, 1, 64));
      return MakeDescOp::create(builder, loc, type, parts.front(), parts.slice(1, rank), strides);
    });
  }
};

struct SplitMakeDesc : OpConversionPattern<MakeDescOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakeDescOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts{adaptor.getBase()};
    llvm::append_range(parts, adaptor.getShape());
    llvm::append_range(parts, adaptor.getStrides().drop_back());
    rewriter.replaceOpWithMultiple(op, {ValueRange(parts)});
    return success();
  }
};

struct SplitSelect : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (auto [yes, no] : llvm::zip(adaptor.getTrueValue(), adaptor.getFalseValue()))
      parts.push_back(arith::SelectOp::create(rewriter, op.getLoc(), adaptor.getCondition().front(), yes, no));
    rewriter.replaceOpWithMultiple(op, {ValueRange(parts)});
    return success();
  }
};

} // namespace

LogicalResult tile::splitCarriedDescriptors(KernelOp kernel) {
  WalkResult carries = kernel.walk(
      [](MakeDescOp desc) { return isOnlyAccessed(desc) ? WalkResult::advance() : WalkResult::interrupt(); });
  if (!carries.wasInterrupted())
    return success();
  PartsConverter converter;
  RewritePatternSet patterns(kernel.getContext());
  ConversionTarget target(*kernel.getContext());
  patterns.add<SplitMakeDesc, SplitSelect>(converter, kernel.getContext());
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
  target.addDynamicallyLegalOp<MakeDescOp>(isOnlyAccessed);
  target.addDynamicallyLegalOp<arith::SelectOp>([](arith::SelectOp op) { return !isa<DescType>(op.getType()); });
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(kernel, target, std::move(patterns));
}
