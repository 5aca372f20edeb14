// Choice of the instruction, and of the grid that executes it.
#include "Analysis/EngineChoice.h"

#include "Analysis/SwappedDot.h"
#include "Target/Engines/MmaSync.h"
#include "Target/Engines/Wgmma.h"

using namespace mlir;
using namespace tile;
using target::MmaType;
using target::OperandSource;

namespace {

/// The operands and the accumulator as the tensor cores know them.
struct DotTypes {
  MmaType a, b, accumulator;
};

/// None if the tensor cores have no such types; f32 that must not be rounded is none of theirs.
std::optional<DotTypes> getMmaTypes(DotOp dot) {
  Type element = dot.getA().getType().getElementType();
  if (element.isF32() && dot.getPrecision() == InputPrecision::ieee)
    return std::nullopt;
  std::optional<MmaType> a = getMmaType(element), b = getMmaType(dot.getB().getType().getElementType());
  std::optional<MmaType> acc = getAccumulatorType(dot.getAcc().getType().getElementType());
  if (!a || !b || !acc)
    return std::nullopt;
  return DotTypes{*a, *b, *acc};
}

/// The shape of the operand before tile-pad-blocks, if it is a block that a descriptor leads to; else as it is.
SmallVector<int64_t> getBlockShape(Value operand) {
  SharedOperand block = traceOperand(operand);
  SmallVector<int64_t> shape;
  if (auto load = dyn_cast_or_null<DescLoadOp>(block.source))
    llvm::append_range(shape, dropLeadingOnes(load.getDesc().getType().getShape()));
  if (shape.size() != 2)
    return SmallVector<int64_t>(cast<RankedTensorType>(operand.getType()).getShape());
  if (block.transposed)
    std::swap(shape[0], shape[1]);
  return shape;
}

/// How operands lie in shared memory: as in global memory, row-major and possibly read transposed.
struct WgmmaOperands {
  bool aTransposed = false, bTransposed = false;
  OperandSource sourceA = OperandSource::Shared;
};

/// `swapped`: the product of the transposed operands in the other order.
EngineChoice planWarpGroups(DotOp dot, const WgmmaOperands &operands, const target::GpuTarget &target,
                            unsigned numWarps, bool swapped = false) {
  std::optional<DotTypes> types = getMmaTypes(dot);
  if (!types)
    return {{}, "its types are not multiplied by tensor cores"};
  SmallVector<int64_t> shapeA = getBlockShape(dot.getA()), shapeB = getBlockShape(dot.getB());
  target::WgmmaProduct product{.a = types->a,
                               .b = types->b,
                               .accumulator = types->accumulator,
                               .m = shapeA[0],
                               .n = shapeB[1],
                               .k = shapeA[1],
                               .aKMajor = !operands.aTransposed,
                               .bKMajor = operands.bTransposed,
                               .sourceA = operands.sourceA,
                               .numWarps = numWarps};
  // What is computed has the rows that tile-pad-blocks gives it.
  if (product.sourceA == OperandSource::Registers)
    product.m = llvm::PowerOf2Ceil(product.m);
  target::WgmmaResult result = planWgmma(target, swapped ? product.swapped() : product);
  if (!result.plan)
    return {{}, result.reason};
  const target::WgmmaPlan &plan = *result.plan;
  Type a = dot.getA().getType().getElementType(), b = dot.getB().getType().getElementType();
  if (swapped)
    std::swap(a, b);
  return {cta::WgmmaAttr::get(dot.getContext(), plan.n, plan.k, a, b, dot.getType().getElementType(), plan.groupsM,
                              plan.groupsN, operands.sourceA, swapped),
          ""};
}

/// What is not for warp groups: the widest instruction that multiplies the dot's types exactly as its precision asks;
/// else fused multiply-adds.
Engine planWarps(DotOp dot, const target::GpuTarget &target, unsigned numWarps) {
  MLIRContext *context = dot.getContext();
  std::optional<DotTypes> types = getMmaTypes(dot);
  if (!types)
    return cta::FmaAttr::get(context);
  SmallVector<int64_t> shape = getPaddedShape(dot.getType().getShape());
  int64_t k = llvm::PowerOf2Ceil(dot.getA().getType().getDimSize(1));
  std::optional<target::MmaSyncPlan> plan = target::planMmaSync(target, {.a = types->a,
                                                                         .b = types->b,
                                                                         .accumulator = types->accumulator,
                                                                         .m = shape[0],
                                                                         .n = shape[1],
                                                                         .k = k,
                                                                         .numWarps = numWarps});
  if (!plan)
    return cta::FmaAttr::get(context);
  return cta::MmaSyncAttr::get(context, plan->instruction->k, dot.getA().getType().getElementType(),
                               dot.getB().getType().getElementType(), dot.getType().getElementType(), plan->warpsM,
                               plan->warpsN);
}

/// The engine of the warp groups' choice, or another one.
EngineChoice orElse(EngineChoice wgmma, DotOp dot, const target::GpuTarget &target, unsigned numWarps) {
  if (!wgmma.engine)
    wgmma.engine = planWarps(dot, target, numWarps);
  return wgmma;
}

} // namespace

EngineChoice tile::chooseEngine(DotOp dot, RaisableAccesses &accesses, const target::GpuTarget &target,
                                unsigned numWarps) {
  if (!target.has(target::Feature::Wgmma))
    return orElse({{}, "the target has no wgmma"}, dot, target, numWarps);
  SharedOperand a = traceOperand(dot.getA()), b = traceOperand(dot.getB());
  if (!accesses.mayComeByTma(b))
    return orElse({{}, "no descriptor can bring its right operand"}, dot, target, numWarps);
  WgmmaOperands operands{.bTransposed = accesses.isReadTransposed(b)};
  if (accesses.mayComeByTma(a)) {
    operands.aTransposed = accesses.isReadTransposed(a);
    EngineChoice choice = planWarpGroups(dot, operands, target, numWarps);
    if (!choice.engine && planSwap(dot))
      choice = planWarpGroups(dot, operands, target, numWarps, /*swapped=*/true);
    return orElse(choice, dot, target, numWarps);
  }
  // A block that is loaded through pointers is not made one of a descriptor beside one that cannot be.
  bool mayStay = isa<DescLoadOp>(b.source) || !isa_and_present<LoadOp>(a.source);
  if (!mayStay || !staysInRegisters(dot))
    return orElse({{}, "no descriptor can bring its left operand, which does not stay in registers"}, dot, target,
                  numWarps);
  operands.sourceA = OperandSource::Registers;
  return orElse(planWarpGroups(dot, operands, target, numWarps), dot, target, numWarps);
}

EngineChoice tile::settleEngine(DotOp dot, const target::GpuTarget &target, unsigned numWarps) {
  SharedOperand a = traceOperand(dot.getA()), b = traceOperand(dot.getB());
  bool fromRegisters = !isBlock(a) && staysInRegisters(dot);
  if (!isBlock(b))
    return orElse({{}, "its right operand does not come by TMA"}, dot, target, numWarps);
  if (!isBlock(a) && !fromRegisters)
    return orElse({{}, "its left operand neither comes by TMA nor stays in registers"}, dot, target, numWarps);
  WgmmaOperands operands{!fromRegisters && a.transposed, b.transposed,
                         fromRegisters ? OperandSource::Registers : OperandSource::Shared};
  return orElse(planWarpGroups(dot, operands, target, numWarps), dot, target, numWarps);
}

cta::WgmmaAttr tile::getWgmma(DotOp dot) {
  return dyn_cast_if_present<cta::WgmmaAttr>(dot.getEngineAttr());
}
