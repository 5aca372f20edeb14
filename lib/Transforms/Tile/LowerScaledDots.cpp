// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-lower-scaled-dots: replace scaled dots by dots that the target supports.
//
// Tensor cores that support scales (tcgen05, and mma.sync of sm_120a) multiply 4-bit or 8-bit elements directly. If one
// operand has 4-bit elements and the other has 8-bit elements, the 4-bit elements are converted to e4m3, which
// represents all of them. An operand without scales gets scales of 1. All other dots are converted to 16-bit floats
// (ExpandScaledDot.h):
//
//   tile.dot_scaled %a scale %s as e2m1,        tile.dot %a, %b, %c scales %s, %t     on sm_100f
//                   %b scale %t as e2m1, %c ==>
//                                               tile.dot %x, %y, %c : bf16            elsewhere
#include "Cta/CtaDialect.h"
#include "Target/Engines/MmaSync.h"
#include "Target/Engines/Tcgen05.h"
#include "Target/Tuned.h"
#include "Transforms/Passes.h"
#include "Transforms/Tile/ExpandScaledDot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {
#define GEN_PASS_DEF_TILELOWERSCALEDDOTS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using target::MmaType;

namespace {

/// Lowers the scaled dots of a kernel in program order, so earlier dots get memory for operands and scales first.
class ScaledDotLowering {
public:
  explicit ScaledDotLowering(KernelOp kernel) : gpu(cta::getTarget(kernel)), numWarps(kernel.getNumWarps()) {
    kernel.walk([&](Operation *op) {
      if (!isa<DotOp, DotScaledOp>(op))
        return;
      ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
      unsigned columns = target::tensorColumnsOf(shape[0], shape[1]);
      if (columns <= target::tensorMemoryColumns)
        accumulatorColumns = std::max(accumulatorColumns, columns);
    });
  }

  void lower(DotScaledOp dot) {
    OpBuilder builder(dot);
    bool hasScales = gpu.has(target::Feature::Tcgen05) || gpu.has(target::Feature::ScaledMma);
    std::string reason = hasScales ? whyNoScales(dot) : "";
    bool takesScales = hasScales && reason.empty();
    if (!reason.empty())
      dot.emitRemark() << "operands of dot_scaled are converted to 16-bit floats: " << reason;
    dot.replaceAllUsesWith(takesScales ? emitDot(builder, dot) : expandScaledDot(builder, dot));
    dot.erase();
  }

private:
  static MmaType typeOf(ScaledFormat format) {
    return format == ScaledFormat::e5m2 ? MmaType::F8E5M2 : MmaType::F8E4M3;
  }
  static bool isPacked(DotScaledOp dot) {
    return dot.getAFormat() == ScaledFormat::e2m1 && dot.getBFormat() == ScaledFormat::e2m1;
  }
  static Type scaleTypeOf(DotScaledOp dot) {
    Value scale = dot.getAScale() ? dot.getAScale() : dot.getBScale();
    return getElementTypeOrSelf(scale.getType());
  }

  static unsigned groupOf(DotScaledOp dot) {
    return scaleTypeOf(dot).isInteger() ? target::byteScaleGroup : target::floatScaleGroup;
  }

  /// Returns why tensor cores cannot multiply the operands with their scales. If they can, reserves memory for the dot
  /// and returns an empty string.
  std::string whyNoScales(DotScaledOp dot) {
    auto has16Bits = [](ScaledFormat format) { return format == ScaledFormat::bf16 || format == ScaledFormat::fp16; };
    if (has16Bits(dot.getAFormat()) || has16Bits(dot.getBFormat()) || (!dot.getAScale() && !dot.getBScale()))
      return "tensor cores support scales only for operands of 8 or 4 bits";
    if ((dot.getAFormat() == ScaledFormat::e2m1 && dot.getPackedAxisOfA() == 0) ||
        (dot.getBFormat() == ScaledFormat::e2m1 && dot.getPackedAxisOfB() == 1))
      return "tensor cores require 4-bit elements to be packed along k";
    bool haveSameScales = !dot.getAScale() || !dot.getBScale() ||
                          getElementTypeOrSelf(dot.getAScale()) == getElementTypeOrSelf(dot.getBScale());
    if (!haveSameScales)
      return "tensor cores require scales of the same type for both operands";
    ArrayRef<int64_t> shape = dot.getAcc().getType().getShape();
    MmaType a = isPacked(dot) ? MmaType::F4E2M1 : typeOf(dot.getAFormat()),
            b = isPacked(dot) ? MmaType::F4E2M1 : typeOf(dot.getBFormat());
    if (gpu.has(target::Feature::ScaledMma))
      return target::planMmaSync(gpu, {.a = a,
                                       .b = b,
                                       .m = shape[0],
                                       .n = shape[1],
                                       .k = dot.getDepth(),
                                       .numWarps = numWarps,
                                       .scaleGroup = groupOf(dot)})
                 ? ""
                 : "mma.sync has no instruction with scales for these types and sizes";
    target::WgmmaDot mma{.a = a,
                         .b = b,
                         .m = shape[0],
                         .n = shape[1],
                         .k = dot.getDepth(),
                         .numWarps = numWarps,
                         .scaleGroup = groupOf(dot)};
    if (std::string reason = target::planTcgen05(gpu, mma).reason; !reason.empty())
      return reason;
    return reserve(mma);
  }

  /// Reserves memory that the dot takes for the whole kernel: tensor memory for its scales, and shared memory for its
  /// operands. Returns why that is impossible, or an empty string.
  std::string reserve(const target::WgmmaDot &mma) {
    const int64_t groups = mma.k / mma.scaleGroup, lines = mma.m + mma.n;
    const int64_t bytes = lines * (mma.k * mma.elementBits() / 8 + groups);
    const unsigned columns =
        std::bit_ceil(target::scaleColumnsOf(mma.m, groups) + target::scaleColumnsOf(mma.n, groups));
    if (scaleColumns + columns + accumulatorColumns > target::tensorMemoryColumns)
      return "its scales and those of other dots leave less tensor memory than an accumulator takes";
    if (double(operandBytes + bytes) > target::tunedOf(gpu).storedOperandShare * gpu.maxSharedPerCta)
      return "operands would take more than 3/4 of shared memory; use smaller blocks";
    scaleColumns += columns;
    operandBytes += bytes;
    return "";
  }

  Value emitOperand(OpBuilder &builder, Value operand, ScaledFormat format, bool widens, unsigned kAxis) {
    Location loc = operand.getLoc();
    auto typeWith = [&](Type element) { return withElementType(operand.getType(), element); };
    if (format == ScaledFormat::e2m1 && !widens)
      return operand;
    if (format == ScaledFormat::e2m1) {
      Value halves = unpackE2M1(builder, loc, operand, kAxis, builder.getF16Type());
      Type type = withElementType(halves.getType(), Float8E4M3FNType::get(builder.getContext()));
      return arith::TruncFOp::create(builder, loc, type, halves);
    }
    Type element = Float8E4M3FNType::get(builder.getContext());
    if (format == ScaledFormat::e5m2)
      element = Float8E5M2Type::get(builder.getContext());
    if (getElementTypeOrSelf(operand) == element)
      return operand;
    return arith::BitcastOp::create(builder, loc, typeWith(element), operand);
  }

  static Value emitScale(OpBuilder &builder, DotScaledOp dot, Value scale, int64_t lines) {
    if (scale)
      return scale;
    constexpr int8_t exponentOfOne = 127;
    Type element = scaleTypeOf(dot);
    auto type = RankedTensorType::get({lines, dot.getDepth() / groupOf(dot)}, element);
    Attribute one = element.isInteger() ? Attribute(builder.getIntegerAttr(element, exponentOfOne))
                                        : Attribute(builder.getFloatAttr(element, 1.0));
    return arith::ConstantOp::create(builder, dot.getLoc(), SplatElementsAttr::get(type, one));
  }

  Value emitDot(OpBuilder &builder, DotScaledOp dot) {
    const bool widens = !isPacked(dot);
    Value a = emitOperand(builder, dot.getA(), dot.getAFormat(), widens, 1),
          b = emitOperand(builder, dot.getB(), dot.getBFormat(), widens, 0);
    ArrayRef<int64_t> shape = dot.getAcc().getType().getShape();
    Value scaleA = emitScale(builder, dot, dot.getAScale(), shape[0]),
          scaleB = emitScale(builder, dot, dot.getBScale(), shape[1]);
    return DotOp::create(builder, dot.getLoc(), dot.getType(), a, b, dot.getAcc(), scaleA, scaleB, InputPrecision::tf32,
                         /*maxNumImpreciseAcc=*/0, Engine());
  }

  const target::GpuTarget &gpu;
  unsigned numWarps;
  unsigned accumulatorColumns = 0; ///< Columns of the widest accumulator.
  unsigned scaleColumns = 0;       ///< Columns of tensor memory for the scales of all dots so far.
  int64_t operandBytes = 0;        ///< Bytes of shared memory for the operands of all dots so far.
};

struct TileLowerScaledDots : tile::impl::TileLowerScaledDotsBase<TileLowerScaledDots> {
  void runOnKernel() override {
    ScaledDotLowering lowering(getOperation());
    SmallVector<DotScaledOp> dots;
    getOperation().walk([&](DotScaledOp dot) { dots.push_back(dot); });
    llvm::for_each(dots, [&](DotScaledOp dot) { lowering.lower(dot); });
  }
};

} // namespace
