// Choice of the instruction and of the warp grid of a dot.
#include "Analysis/DotPlan.h"

#include "Layout/Factories.h"
#include "Target/Engines/MmaSync.h"
#include "Target/Engines/Wgmma.h"

using namespace mlir;
using namespace tile;
using target::MmaType;

std::optional<MmaType> tile::getMmaType(Type element) {
  if (element.isF16())
    return MmaType::F16;
  if (element.isBF16())
    return MmaType::BF16;
  if (element.isF32())
    return MmaType::TF32;
  if (isa<Float8E4M3FNType>(element))
    return MmaType::F8E4M3;
  if (isa<Float8E5M2Type>(element))
    return MmaType::F8E5M2;
  if (element.isInteger(8))
    return MmaType::S8;
  return std::nullopt;
}

std::optional<MmaType> tile::getAccumulatorType(Type element) {
  if (element.isF16())
    return MmaType::F16;
  if (element.isF32())
    return MmaType::F32;
  if (element.isInteger(32))
    return MmaType::S32;
  return std::nullopt;
}

/// The operands and the accumulator as `mma.sync` and `wgmma` know them; f32 that must not be rounded is none of
/// theirs.
struct DotTypes {
  MmaType a, b, accumulator;
};
static std::optional<DotTypes> getMmaTypes(DotOp dot) {
  Type element = dot.getA().getType().getElementType();
  if (element.isF32() && dot.getPrecision() == InputPrecision::ieee)
    return std::nullopt;
  std::optional<MmaType> a = getMmaType(element), b = getMmaType(dot.getB().getType().getElementType());
  std::optional<MmaType> acc = getAccumulatorType(dot.getAcc().getType().getElementType());
  if (!a || !b || !acc)
    return std::nullopt;
  return DotTypes{*a, *b, *acc};
}

static std::optional<target::MmaSyncPlan> planWarps(DotOp dot, const target::GpuTarget &target, unsigned numWarps) {
  std::optional<DotTypes> types = getMmaTypes(dot);
  if (!types)
    return std::nullopt;
  ArrayRef<int64_t> shape = dot.getAcc().getType().getShape();
  return target::planMmaSync(target, {.a = types->a,
                                      .b = types->b,
                                      .accumulator = types->accumulator,
                                      .m = shape[0],
                                      .n = shape[1],
                                      .k = dot.getA().getType().getDimSize(1),
                                      .numWarps = numWarps});
}

ArrayRef<int64_t> tile::dropLeadingOnes(ArrayRef<int64_t> block) {
  while (block.size() > 2 && block.front() == 1)
    block = block.drop_front();
  return block;
}

/// Whether the shapes differ in nothing but leading dimensions of size 1.
static bool changesLeadingOnes(ReshapeOp reshape) {
  auto drop = [](RankedTensorType type) { return type.getShape().drop_while([](int64_t size) { return size == 1; }); };
  return drop(reshape.getSrc().getType()) == drop(reshape.getResult().getType());
}

SharedOperand tile::traceOperand(Value operand) {
  SharedOperand traced;
  while (true) {
    if (auto convert = operand.getDefiningOp<cta::ConvertLayoutOp>()) {
      operand = convert.getSrc();
    } else if (auto trans = operand.getDefiningOp<TransOp>(); trans && trans.getType().getRank() == 2) {
      traced.transposed ^= trans.getOrder()[0] == 1;
      operand = trans.getSrc();
    } else if (auto reshape = operand.getDefiningOp<ReshapeOp>(); reshape && changesLeadingOnes(reshape)) {
      operand = reshape.getSrc();
    } else {
      break;
    }
  }
  traced.source = operand.getDefiningOp();
  return traced;
}

bool tile::hasTensorMap(Value desc) {
  auto make = desc.getDefiningOp<MakeDescOp>();
  return isa<BlockArgument>(desc) || desc.getDefiningOp<OpenTensorMapOp>() || (make && make.getPlace());
}

bool tile::isBlock(const SharedOperand &operand) {
  if (auto load = dyn_cast_or_null<DescLoadOp>(operand.source))
    return hasTensorMap(load.getDesc());
  auto load = dyn_cast_or_null<cta::LocalLoadOp>(operand.source);
  return load && llvm::any_of(load.getBuffer().getUsers(), llvm::IsaPred<cta::TmaLoadSyncOp>);
}

bool tile::staysInRegisters(DotOp dot) {
  // PTX ISA, "Register Fragments and Shared Memory Matrix Layouts": fragments of a for 16-bit types; those of 8-bit
  // types are no accumulators.
  if (!dot.getA().getType().getElementType().isF16() && !dot.getA().getType().getElementType().isBF16())
    return false;
  SmallVector<Value> worklist{dot.getA()};
  DenseSet<Value> visited;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    bool isProduct = isa_and_present<DotOp, cta::WgmmaWaitOp, cta::MmaSyncOp, cta::FmaDotOp>(op);
    if (!op || op->getBlock() != dot->getBlock() || isProduct)
      continue; // known before this iteration's products, or one of them
    if (!isMemoryEffectFree(op))
      return false;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && visited.insert(operand).second)
        worklist.push_back(operand);
  }
  return true;
}

/// The shape of the operand before tile-pad-blocks, if it is a block that a descriptor leads to; else as it is.
static SmallVector<int64_t> getBlockShape(Value operand) {
  SharedOperand block = traceOperand(operand);
  SmallVector<int64_t> shape;
  if (auto load = dyn_cast_or_null<DescLoadOp>(block.source))
    llvm::append_range(shape, dropLeadingOnes(load.getDesc().getType().getShape()));
  else if (auto load = dyn_cast_or_null<cta::LocalLoadOp>(block.source))
    llvm::append_range(shape, load.getBuffer().getType().getShape());
  if (shape.size() != 2)
    return SmallVector<int64_t>(cast<RankedTensorType>(operand.getType()).getShape());
  if (block.transposed)
    std::swap(shape[0], shape[1]);
  return shape;
}

std::optional<layout::WgmmaTiling> tile::planWarpGroups(DotOp dot, bool aTransposed, bool bTransposed,
                                                        const target::GpuTarget &target, unsigned numWarps,
                                                        bool swapped) {
  std::optional<DotTypes> types = getMmaTypes(dot);
  if (!types)
    return std::nullopt;
  target::WgmmaProduct product;
  product.a = types->a;
  product.b = types->b;
  product.accumulator = types->accumulator;
  SmallVector<int64_t> shapeA = getBlockShape(dot.getA()), shapeB = getBlockShape(dot.getB());
  product.m = shapeA[0];
  product.n = shapeB[1];
  product.k = shapeA[1];
  // Memory is row-major: b has n contiguous unless it was read transposed.
  product.aKMajor = !aTransposed;
  product.bKMajor = bTransposed;
  product.numWarps = numWarps;
  std::optional<target::WgmmaPlan> plan = planWgmma(target, swapped ? product.swapped() : product).plan;
  if (!plan)
    return std::nullopt;
  return layout::WgmmaTiling{plan->groupsM, plan->groupsN, product.elementBits(), plan->n};
}

DotPlan tile::planDot(DotOp dot, const target::GpuTarget &target, unsigned numWarps) {
  ArrayRef<int64_t> shapeA = dot.getA().getType().getShape(), shape = dot.getAcc().getType().getShape();
  int64_t m = shape[0], n = shape[1], k = shapeA[1];
  DotPlan plan;
  SharedOperand a = traceOperand(dot.getA()), b = traceOperand(dot.getB());
  bool fromRegisters = !isBlock(a) && staysInRegisters(dot);
  if (isBlock(b) && (isBlock(a) || fromRegisters))
    plan.wgmma = planWarpGroups(dot, !fromRegisters && a.transposed, b.transposed, target, numWarps);
  if (plan.wgmma) {
    plan.accumulator = layout::wgmmaAccumulator(m, n, *plan.wgmma);
    if (fromRegisters)
      plan.a = layout::wgmmaOperandA(m, k, *plan.wgmma);
    return plan;
  }
  std::optional<target::MmaSyncPlan> warps = planWarps(dot, target, numWarps);
  if (!warps) {
    plan.accumulator = layout::defaultBlocked({m, n}, {1, 0}, /*vectorElements=*/1, numWarps);
    return plan;
  }
  plan.instruction = warps->instruction;
  layout::MmaTiling tiling;
  tiling.warpsM = warps->warpsM;
  tiling.warpsN = warps->warpsN;
  tiling.elementBits = target::mmaTypeBits(plan.instruction->a);
  tiling.instructionK = plan.instruction->k;
  plan.accumulator = layout::mmaAccumulator(m, n, tiling);
  plan.a = layout::mmaOperandA(m, k, tiling);
  plan.b = layout::mmaOperandB(k, n, tiling);
  return plan;
}
