// Choice of the instruction and of the warp grid of a dot.
#include "Analysis/DotPlan.h"

#include "Analysis/SharedLiveness.h"
#include "Layout/Factories.h"

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

static const target::MmaInstruction *chooseInstruction(DotOp dot, const target::GpuTarget &target) {
  Type element = dot.getA().getType().getElementType();
  if (element.isF32() && dot.getPrecision() == InputPrecision::ieee)
    return nullptr;
  std::optional<MmaType> a = getMmaType(element), b = getMmaType(dot.getB().getType().getElementType());
  std::optional<MmaType> acc = getAccumulatorType(dot.getAcc().getType().getElementType());
  if (!a || !b || !acc)
    return nullptr;
  const target::MmaInstruction *best = nullptr;
  for (const target::MmaInstruction *candidate : target::mmaInstructions(target, *a, *b, *acc))
    // The layouts know m16n8k*; the block must hold at least one k step.
    if (candidate->m == 16 && candidate->n == 8 && candidate->k <= dot.getA().getType().getDimSize(1))
      best = candidate;
  return best;
}

/// Number of warps along M; the rest is along N.
static unsigned chooseWarpsM(int64_t m, int64_t n, unsigned numWarps) {
  unsigned best = 1;
  int64_t bestCost = std::numeric_limits<int64_t>::max();
  for (unsigned warpsM = 1; warpsM <= numWarps; warpsM *= 2) {
    int64_t tileM = std::max<int64_t>(m / warpsM, 16), tileN = std::max<int64_t>(n / (numWarps / warpsM), 8);
    // Operand elements that the CTA reads for one k: each warp reads its rows of A and its columns of B.
    int64_t cost = (tileM + tileN) * numWarps;
    if (cost < bestCost) {
      best = warpsM;
      bestCost = cost;
    }
  }
  return best;
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
  return load && !load.getStart();
}

namespace {

/// What a left operand is computed from in the block of the product.
struct LeftSources {
  bool loads = false, products = false;
};

} // namespace

static LeftSources findLeftSources(DotOp dot) {
  LeftSources sources;
  SmallVector<Value> worklist{dot.getA()};
  DenseSet<Value> visited;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != dot->getBlock())
      continue; // known before this iteration's products
    if (isa<DotOp, cta::WgmmaWaitOp, cta::MmaSyncOp, cta::FmaDotOp>(op)) {
      sources.products = true;
      continue;
    }
    sources.loads |= !isMemoryEffectFree(op);
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && visited.insert(operand).second)
        worklist.push_back(operand);
  }
  return sources;
}

/// PTX ISA, "Register Fragments and Shared Memory Matrix Layouts": fragments of a for 16-bit types; those of 8-bit
/// types are no accumulators.
static bool mayComeFromRegisters(DotOp dot) {
  Type element = dot.getA().getType().getElementType();
  return element.isF16() || element.isBF16();
}

bool tile::staysInRegisters(DotOp dot) {
  return mayComeFromRegisters(dot) && !findLeftSources(dot).loads;
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

/// One instruction computes 160 columns, say. Only b has them, and its buffer must have the rest at its end: with k
/// contiguous there is one panel of all columns, with n contiguous it is what the last panel lacks.
static bool fitsOnePart(int64_t m, int64_t n, int64_t k, bool bTransposed, const layout::WgmmaTiling &tiling) {
  constexpr int64_t step = 16, mostColumns = 256, panelBits = 1024;
  return llvm::isPowerOf2_64(m) && llvm::isPowerOf2_64(k) && n % step == 0 && n <= mostColumns && tiling.groupsN == 1 &&
         (!bTransposed || k * tiling.elementBits <= panelBits);
}

std::optional<layout::WgmmaTiling> tile::planWarpGroups(DotOp dot, bool aTransposed, bool bTransposed,
                                                        const target::GpuTarget &target, unsigned numWarps,
                                                        bool swapped) {
  Type a = dot.getA().getType().getElementType(), b = dot.getB().getType().getElementType();
  Type acc = dot.getAcc().getType().getElementType();
  bool isHalf = (a.isF16() || a.isBF16()) && a == b && (acc.isF32() || (a.isF16() && acc.isF16()));
  bool isByte = a.isInteger(8) && a == b && acc.isInteger(32);
  bool isFloat8 = isa<Float8E4M3FNType, Float8E5M2Type>(a) && isa<Float8E4M3FNType, Float8E5M2Type>(b) && acc.isF32();
  bool isTf32 = a.isF32() && b.isF32() && acc.isF32() && dot.getPrecision() == InputPrecision::tf32;
  if (!target.has(target::Feature::Wgmma) || numWarps % 4 != 0 || !(isHalf || isByte || isFloat8 || isTf32))
    return std::nullopt;
  if (swapped)
    std::tie(aTransposed, bTransposed) = std::pair(!bTransposed, !aTransposed);
  // Memory is row-major: b has n contiguous unless it was read transposed. Only 16-bit types may.
  bool kMajor = !aTransposed && bTransposed;
  if (!isHalf && !kMajor)
    return std::nullopt;
  layout::WgmmaTiling tiling;
  tiling.elementBits = a.getIntOrFloatBitWidth();
  SmallVector<int64_t> shapeA = getBlockShape(dot.getA()), shapeB = getBlockShape(dot.getB());
  int64_t m = shapeA[0], n = shapeB[1], k = shapeA[1], groups = numWarps / 4;
  if (swapped)
    std::swap(m, n);
  if (m < 64 || k * tiling.elementBits < 256)
    return std::nullopt;
  // Along M as far as there are 64 rows for each group, the rest along N.
  tiling.groupsM = std::min<int64_t>(groups, m / 64);
  tiling.groupsN = groups / tiling.groupsM;
  if (!llvm::isPowerOf2_64(m * n * k) && !fitsOnePart(m, n, k, bTransposed, tiling))
    return std::nullopt;
  int64_t groupN = n / tiling.groupsN, panel = std::min<int64_t>(llvm::PowerOf2Ceil(n), 64);
  // A matrix descriptor needs a swizzle, of 32 bytes at least; with n contiguous, groups begin at whole panels.
  bool splitsPanel = tiling.groupsN > 1 && groupN % panel != 0;
  if (groupN < 8 || (!bTransposed && (panel * tiling.elementBits < 256 || splitsPanel)))
    return std::nullopt;
  // Promoted sums take registers beside those that they are added to: of 128 columns half as many.
  tiling.instructionN = std::min<int64_t>(groupN, dot.isPromoted() && groupN > 128 && groupN % 128 == 0 ? 128 : 256);
  return tiling;
}

/// mma.sync, or fused multiply-adds on operands in shared memory.
static DotPlan planWarps(DotOp dot, const target::GpuTarget &target, unsigned numWarps) {
  ArrayRef<int64_t> shapeA = dot.getA().getType().getShape(), shape = dot.getAcc().getType().getShape();
  int64_t m = shape[0], n = shape[1], k = shapeA[1];
  DotPlan plan;
  plan.instruction = chooseInstruction(dot, target);
  if (!plan.instruction) {
    plan.accumulator = layout::defaultBlocked({m, n}, {1, 0}, /*vectorElements=*/1, numWarps);
    return plan;
  }
  layout::MmaTiling tiling;
  tiling.warpsM = chooseWarpsM(m, n, numWarps);
  tiling.warpsN = numWarps / tiling.warpsM;
  tiling.elementBits = target::mmaTypeBits(plan.instruction->a);
  tiling.instructionK = plan.instruction->k;
  plan.accumulator = layout::mmaAccumulator(m, n, tiling);
  plan.a = layout::mmaOperandA(m, k, tiling);
  plan.b = layout::mmaOperandB(k, n, tiling);
  return plan;
}

/// Whether threads have stored the operand, in a form that the product can take.
static bool isStored(const SharedOperand &operand) {
  auto load = dyn_cast_or_null<cta::LocalLoadOp>(operand.source);
  cta::AllocOp alloc = load ? getAlloc(load.getBuffer()) : cta::AllocOp();
  return alloc && llvm::none_of(alloc->getUsers(), llvm::IsaPred<cta::TmaLoadSyncOp>);
}

DotPlan tile::planDot(DotOp dot, const target::GpuTarget &target, unsigned numWarps, bool mayStore) {
  DotPlan warps = planWarps(dot, target, numWarps), groups;
  // Where layouts are assigned, the right operand has the one of this plan.
  cta::LayoutAttr layoutB = cta::getLayoutAttr(dot.getB().getType());
  if (!target.has(target::Feature::Wgmma) || (warps.b && layoutB && layoutB.getLayout() == *warps.b))
    return warps;
  SharedOperand a = traceOperand(dot.getA()), b = traceOperand(dot.getB());
  groups.storesB = !isBlock(b);
  bool isComputed = mayComeFromRegisters(dot) && findLeftSources(dot).products;
  bool fromRegisters = !isBlock(a) && (isComputed || staysInRegisters(dot));
  // What is the same for all steps, or transposed, takes less as a buffer.
  if (groups.storesB)
    fromRegisters &= isComputed && !a.transposed;
  groups.storesA = !isBlock(a) && !fromRegisters;
  // Stored operands may have k contiguous, which goes with all types and sizes.
  bool aTransposed = !groups.storesA && !fromRegisters && !isStored(a) && a.transposed;
  bool bTransposed = groups.storesB || isStored(b) || b.transposed;
  if (mayStore || !(groups.storesA || groups.storesB))
    groups.wgmma = planWarpGroups(dot, aTransposed, bTransposed, target, numWarps);
  if (!groups.wgmma)
    return warps;
  ArrayRef<int64_t> shapeA = dot.getA().getType().getShape(), shape = dot.getAcc().getType().getShape();
  groups.accumulator = layout::wgmmaAccumulator(shape[0], shape[1], *groups.wgmma);
  if (fromRegisters)
    groups.a = layout::wgmmaOperandA(shape[0], shapeA[1], *groups.wgmma);
  return groups;
}
