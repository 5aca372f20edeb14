// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise computations: regions on scalars, arithmetic with explicit rounding, special registers.
//
//   %y = tile.map %x { ^bb0(%a): … }              ==>   the region for each register of %x
//   %s = tile.rounded add rz(%x, %y) : f32         ==>   add.rz.f32 $0, $1, $2;
//
// ptxas never fuses instructions with explicit rounding (PTX ISA, "add.f32"), and LLVM does not fuse inline PTX.
#include "Patterns.h"
#include "Ptx.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tile::conversion {

namespace {

/// Executes the region once per register. Registers that hold copies of an element recompute it, as in all elementwise
/// operations.
struct MapLowering : OpConversionPattern<MapOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MapOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    SmallVector<Registers> results(op.getNumResults());
    for (size_t index = 0, count = adaptor.getSrcs().front().size(); index < count; ++index) {
      IRMapping mapping;
      for (auto [argument, registers] : llvm::zip_equal(body.getArguments(), adaptor.getSrcs()))
        mapping.map(argument, registers[index]);
      for (Operation &inner : body.without_terminator())
        rewriter.clone(inner, mapping);
      for (auto [result, value] : llvm::zip_equal(results, body.getTerminator()->getOperands()))
        result.push_back(mapping.lookupOrDefault(value));
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

/// Returns the type's name in an instruction: "f32", "s64".
std::string nameOf(Type type, bool isUnsigned) {
  StringRef kind = isa<FloatType>(type) ? "f" : isUnsigned ? "u" : "s";
  return (kind + Twine(type.getIntOrFloatBitWidth())).str();
}

/// Returns the rounding modifier, such as ".rm". PTX calls downward and upward rounding "m" and "p" (towards minus and
/// plus infinity) and appends an "i" if the result is an integer.
std::string modifierOf(Rounding rounding, bool toInteger) {
  static constexpr StringLiteral names[] = {"rn", "rz", "rm", "rp"};
  return "." + names[unsigned(rounding)].str() + (toInteger ? "i" : "");
}

struct RoundedLowering : OpConversionPattern<RoundedOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(RoundedOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Type to = op.getType(), from = op.getArgs().front().getType();
    if (isa<ShapedType>(to)) // tensors are split into registers first
      return failure();
    bool isCast = op.getKind() == RoundedKind::cast;
    std::string modifier = modifierOf(op.getRounding(), isCast && isa<IntegerType>(to));
    PtxStatement statement{.text = isCast ? "cvt" : stringifyRoundedKind(op.getKind()).str(),
                           .results = {to},
                           .operands = llvm::to_vector(adaptor.getArgs()),
                           .hasSideEffects = false};
    statement.text += modifier + "." + nameOf(to, op.getIsUnsigned());
    if (isCast)
      statement.text += "." + nameOf(from, op.getIsUnsigned());
    for (unsigned operand = 0; operand <= statement.operands.size(); ++operand)
      statement.text += (operand == 0 ? " $" : ", $") + std::to_string(operand);
    statement.text += ";";
    rewriter.replaceOp(op, emitPtx(rewriter, op.getLoc(), statement));
    return success();
  }
};

struct ReadRegisterLowering : OpConversionPattern<ReadRegisterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ReadRegisterOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    std::string name = stringifySpecialRegister(op.getSource()).str();
    std::string bits = std::to_string(op.getType().getIntOrFloatBitWidth());
    PtxStatement statement{.text = "mov.u" + bits + " $0, %" + name + ";",
                           .results = {op.getType()},
                           .hasSideEffects = op.getSource() != SpecialRegister::smid};
    rewriter.replaceOp(op, emitPtx(rewriter, op.getLoc(), statement));
    return success();
  }
};

} // namespace

void registerElementLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<MapLowering, RoundedLowering, ReadRegisterLowering>(lowerings.converter, lowerings.context,
                                                                             /*benefit=*/2);
}

} // namespace tile::conversion
