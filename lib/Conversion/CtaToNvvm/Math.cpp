// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mathematical functions on scalars, in forms that LLVM can select for NVPTX; for other forms, instruction selection
// aborts ("no libcall available").
//
//   f32   exp, exp2, log2, rsqrt, sqrt       one approximate instruction (PTX ISA, "Floating Point Instructions"), with
//                                            an error of 1 to 2 units in the last place; exp(x) = ex2(x * log2(e)),
//                                            whose error grows with |x| like that of the multiplication, as in CUDA's
//                                            __expf
//   f32, f64, other functions                NVIDIA's libdevice: __nv_sinf, __nv_exp, …
//   f16, bf16                                in f32
//   f32 division                             div.full, within 2 units in the last place, like Triton's '/'; with
//                                            explicit rounding (tl.div_rn) it is exact and no arith.divf
//
// ex2 flushes results below 2^-126 to zero (.ftz), which saves three instructions around each exponential.
#include "EmitLayout.h"
#include "Float8.h"
#include "Patterns.h"
#include "RoundOnce.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::conversion {

namespace {

constexpr double log2OfE = 1.4426950408889634;

/// An operation and the libdevice function that computes it for f64; the name of the f32 function has the suffix f.
struct LibraryFunction {
  StringLiteral operation, function;
};

constexpr LibraryFunction libraryFunctions[] = {
    {"math.acos", "__nv_acos"},   {"math.acosh", "__nv_acosh"}, {"math.asin", "__nv_asin"},
    {"math.asinh", "__nv_asinh"}, {"math.atan", "__nv_atan"},   {"math.atan2", "__nv_atan2"},
    {"math.atanh", "__nv_atanh"}, {"math.cbrt", "__nv_cbrt"},   {"math.cos", "__nv_cos"},
    {"math.cosh", "__nv_cosh"},   {"math.erf", "__nv_erf"},     {"math.erfc", "__nv_erfc"},
    {"math.exp", "__nv_exp"},     {"math.exp2", "__nv_exp2"},   {"math.expm1", "__nv_expm1"},
    {"math.fpowi", "__nv_powi"},  {"math.log", "__nv_log"},     {"math.log10", "__nv_log10"},
    {"math.log1p", "__nv_log1p"}, {"math.log2", "__nv_log2"},   {"math.powf", "__nv_pow"},
    {"math.round", "__nv_round"}, {"math.rsqrt", "__nv_rsqrt"}, {"math.sin", "__nv_sin"},
    {"math.sinh", "__nv_sinh"},   {"math.sqrt", "__nv_sqrt"},   {"math.tan", "__nv_tan"},
    {"math.tanh", "__nv_tanh"},   {"arith.remf", "__nv_fmod"},
};

std::string libraryFunctionOf(Operation *op) {
  if (auto call = dyn_cast<LibraryCallOp>(op)) {
    // Functions that exist only for f32 have the prefix f.
    bool isSingle = call.getFunction() == tile::LibraryFunction::rsqrt_rn;
    return (isSingle ? "__nv_f" : "__nv_") + stringifyLibraryFunction(call.getFunction()).str();
  }
  StringRef name = op->getName().getStringRef();
  for (const LibraryFunction &entry : libraryFunctions)
    if (entry.operation == name)
      return entry.function.str();
  return {};
}

bool isConsumer(Operation *op) {
  return isa_and_present<math::MathDialect>(op->getDialect());
}

/// Returns the intrinsic that computes an f32 function approximately; empty if there is none.
StringRef approximationOf(Operation *op) {
  if (isa<math::ExpOp, math::Exp2Op>(op))
    return "llvm.nvvm.ex2.approx.ftz.f32";
  if (isa<math::Log2Op>(op))
    return "llvm.nvvm.lg2.approx.f";
  if (isa<math::RsqrtOp>(op))
    return "llvm.nvvm.rsqrt.approx.f";
  if (isa<math::SqrtOp>(op))
    return "llvm.nvvm.sqrt.approx.f";
  return {};
}

bool isSmallFloat(Type type) {
  return type.isF16() || type.isBF16();
}

/// Returns true for functions that LLVM can compute in 16 bits.
bool hasSmallForm(Operation *op, const target::GpuTarget &gpu) {
  if (isa<math::AbsFOp, math::CopySignOp, math::IsInfOp, math::IsNormalOp>(op))
    return true;
  return isa<math::FmaOp>(op) && (op->getResult(0).getType().isF16() || gpu.has(target::Feature::BF16Arithmetic));
}

bool needsPromotion(Operation *op, const target::GpuTarget &gpu) {
  bool usesSmallFloat = llvm::any_of(op->getOperandTypes(), isSmallFloat);
  return usesSmallFloat && (isConsumer(op) || isa<arith::RemFOp>(op)) && !hasSmallForm(op, gpu);
}

/// Computes a 16-bit function in f32 and rounds the result.
struct PromotionLowering : ConversionPattern {
  PromotionLowering(const TypeConverter &converter, MLIRContext *context, const target::GpuTarget &gpu)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/2, context), gpu(gpu) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!needsPromotion(op, gpu))
      return failure();
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : operands)
      state.operands.push_back(
          isSmallFloat(operand.getType())
              ? arith::ExtFOp::create(rewriter, op->getLoc(), rewriter.getF32Type(), operand).getResult()
              : operand);
    for (Type type : op->getResultTypes())
      state.types.push_back(isSmallFloat(type) ? rewriter.getF32Type() : type);
    state.addAttributes(op->getAttrs());
    SmallVector<Value> results(rewriter.create(state)->getResults());
    for (auto [result, type] : llvm::zip(results, op->getResultTypes()))
      if (result.getType() != type)
        result = arith::TruncFOp::create(rewriter, op->getLoc(), type, result);
    rewriter.replaceOp(op, results);
    return success();
  }

  const target::GpuTarget &gpu;
};

/// Lowers an f32 function to one approximate instruction.
struct ApproximationLowering : ConversionPattern {
  ApproximationLowering(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    StringRef intrinsic = approximationOf(op);
    if (intrinsic.empty() || !op->getResult(0).getType().isF32())
      return failure();
    Value argument = operands.front();
    if (isa<math::ExpOp>(op)) {
      Value factor = arith::ConstantOp::create(rewriter, op->getLoc(), rewriter.getF32FloatAttr(log2OfE));
      argument = arith::MulFOp::create(rewriter, op->getLoc(), argument, factor);
    }
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(op, rewriter.getF32Type(), rewriter.getStringAttr(intrinsic),
                                                       argument);
    return success();
  }
};

/// Returns true if `value` is a power of two; dividing by it is then the same as multiplying by its inverse.
bool isPowerOfTwo(Value value) {
  FloatAttr number;
  APFloat inverse(0.0f);
  return matchPattern(value, m_Constant(&number)) && number.getValue().getExactInverse(&inverse);
}

/// Returns true if a division is lowered to an approximate instruction, as in Triton. A correctly rounded division
/// takes 8 instructions, and a branch to 40 more.
bool isApproximateDivision(Operation *op) {
  auto division = dyn_cast<arith::DivFOp>(op);
  return division && division.getType().isF32() && !isPowerOfTwo(division.getRhs()) &&
         !arith::bitEnumContainsAny(division.getFastmath(), arith::FastMathFlags::afn); // LLVM selects div.approx
}

struct DivisionLowering : OpConversionPattern<arith::DivFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::DivFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isApproximateDivision(op))
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(op, op.getType(), rewriter.getStringAttr("llvm.nvvm.div.full"),
                                                       adaptor.getOperands());
    return success();
  }
};

/// Calls a libdevice function; the code generator links its definition.
struct LibraryLowering : ConversionPattern {
  LibraryLowering(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    std::string function = libraryFunctionOf(op);
    Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
    if (function.empty() || !type || (!type.isF32() && !type.isF64()))
      return failure();
    bool hasTypeSuffix = StringRef(function).ends_with("_rn");
    std::string name = function + (type.isF32() && !hasTypeSuffix ? "f" : "");
    auto module = op->getParentOfType<ModuleOp>();
    auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (!callee) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      callee = LLVM::LLVMFuncOp::create(
          rewriter, module.getLoc(), name,
          LLVM::LLVMFunctionType::get(type, SmallVector<Type>(ValueRange(operands).getTypes())));
    }
    rewriter.replaceOpWithNewOp<LLVM::CallOp>(op, callee, operands);
    return success();
  }
};

struct SincosLowering : OpConversionPattern<math::SincosOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(math::SincosOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value sine = math::SinOp::create(rewriter, op.getLoc(), adaptor.getOperand());
    Value cosine = math::CosOp::create(rewriter, op.getLoc(), adaptor.getOperand());
    rewriter.replaceOp(op, {sine, cosine});
    return success();
  }
};

/// Lowers tests for infinite and normal values, for which the llvm dialect has no operation, to comparisons.
template <typename OpType> struct ClassLowering : OpConversionPattern<OpType> {
  using OpConversionPattern<OpType>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpType op, typename OpType::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<FloatType>(adaptor.getOperand().getType());
    if (!type || op.getType() != rewriter.getI1Type())
      return failure();
    Location loc = op.getLoc();
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    auto compare = [&](arith::CmpFPredicate predicate, Value value, const APFloat &bound) -> Value {
      Value constant = arith::ConstantOp::create(rewriter, loc, rewriter.getFloatAttr(type, bound));
      return arith::CmpFOp::create(rewriter, loc, predicate, value, constant);
    };
    Value magnitude = math::AbsFOp::create(rewriter, loc, adaptor.getOperand());
    Value result;
    if constexpr (std::is_same_v<OpType, math::IsInfOp>)
      result = compare(arith::CmpFPredicate::OEQ, magnitude, APFloat::getInf(semantics));
    else
      result = arith::AndIOp::create(
          rewriter, loc, compare(arith::CmpFPredicate::OLT, magnitude, APFloat::getInf(semantics)),
          compare(arith::CmpFPredicate::OGE, magnitude, APFloat::getSmallestNormalized(semantics)));
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ClampLowering : OpConversionPattern<math::ClampFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(math::ClampFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value raised = arith::MaximumFOp::create(rewriter, op.getLoc(), adaptor.getValue(), adaptor.getMin());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, raised, adaptor.getMax());
    return success();
  }
};

/// Lowers a conversion that rounds towards zero. LLVM would select a conversion that rounds to nearest, so the result
/// is moved one step towards zero if its magnitude exceeds that of the operand.
struct TruncationLowering : OpConversionPattern<arith::TruncFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!roundsTowardsZero(op) || !isa<FloatType>(op.getType())) // tensors are split into registers first
      return failure();
    Location loc = op.getLoc();
    Value exact = adaptor.getIn();
    Value nearest = arith::TruncFOp::create(rewriter, loc, op.getType(), exact);
    Value rounded = arith::ExtFOp::create(rewriter, loc, exact.getType(), nearest);
    Type bits = rewriter.getIntegerType(op.getType().getIntOrFloatBitWidth());
    Value result =
        emitStepTowardsZero(rewriter, loc, arith::BitcastOp::create(rewriter, loc, bits, nearest), rounded, exact);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), result);
    return success();
  }
};

} // namespace

bool isSelectable(Operation *op, const target::GpuTarget &gpu) {
  if (needsPromotion(op, gpu) || roundsTowardsZero(op) || isRoundedOtherwise(op, gpu) || isFloatToRegister(op) ||
      isApproximateDivision(op) ||
      isa<math::SincosOp, math::ClampFOp, math::IPowIOp, math::IsInfOp, math::IsNormalOp>(op))
    return false;
  return libraryFunctionOf(op).empty();
}

void registerMathLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<PromotionLowering>(lowerings.converter, lowerings.context, lowerings.gpu);
  lowerings.patterns.add<ApproximationLowering, LibraryLowering>(lowerings.converter, lowerings.context);
  lowerings.patterns.add<SincosLowering, ClampLowering>(lowerings.converter, lowerings.context);
  lowerings.patterns.add<TruncationLowering, DivisionLowering>(lowerings.converter, lowerings.context, /*benefit=*/2);
  lowerings.patterns.add<ClassLowering<math::IsInfOp>, ClassLowering<math::IsNormalOp>>(
      lowerings.converter, lowerings.context, /*benefit=*/3);
}

} // namespace tile::conversion
