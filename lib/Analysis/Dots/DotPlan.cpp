// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Analyses the operands of a dot, and determines the layouts that its engine requires.
#include "Analysis/Dots/DotPlan.h"

#include "Layout/Factories.h"
#include "Layout/ShapeTransforms.h"
#include "Layout/TensorMemoryLayout.h"
#include "Target/Tuned.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

ArrayRef<int64_t> tile::dropLeadingOnes(ArrayRef<int64_t> block) {
  while (block.size() > 2 && block.front() == 1)
    block = block.drop_front();
  return block;
}

/// Returns true if the shapes differ only in leading dimensions of size 1.
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

std::pair<Value, bool> tile::skipTranspositions(Value operand) {
  bool transposed = false;
  while (isa_and_present<cta::ConvertLayoutOp, TransOp>(operand.getDefiningOp())) {
    Operation *op = operand.getDefiningOp();
    if (auto trans = dyn_cast<TransOp>(op))
      transposed ^= trans.getOrder()[0] == 1;
    operand = op->getOperand(0);
  }
  return {operand, transposed};
}

bool tile::hasTensorMap(Value desc) {
  auto make = desc.getDefiningOp<MakeDescOp>();
  return isa<BlockArgument>(desc) || desc.getDefiningOp<OpenTensorMapOp>() || (make && make.getPlace());
}

bool tile::isBlock(const SharedOperand &operand) {
  auto load = dyn_cast_or_null<DescLoadOp>(operand.source);
  return load && hasTensorMap(load.getDesc());
}

namespace {

/// The operations in the dot's block from which its left operand is computed.
struct LeftSources {
  bool loads = false, dots = false;
  bool matrices = false; ///< Some of the loads load matrices.
  /// Some of these matrices have elements of neither 2 nor 4 bytes. With 1-byte elements, a register of a fragment
  /// would take two loads.
  bool otherSizes = false;
  bool others = false; ///< Other operations that access memory, for example loads through descriptors.
};

/// Returns true if `load` loads more than a row or a column.
bool isMatrix(LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  return type && llvm::count_if(type.getShape(), [](int64_t size) { return size > 1; }) > 1;
}

} // namespace

/// Finds the operations from which the left operand is computed. With `acrossIterations`, values that a loop carries
/// are followed into the previous iteration.
static LeftSources findLeftSources(DotOp dot, bool acrossIterations = false) {
  LeftSources sources;
  SmallVector<Value> worklist{dot.getA()};
  DenseSet<Value> visited;
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    auto argument = dyn_cast<BlockArgument>(value);
    if (OpOperand *yielded = acrossIterations && loop && argument ? loop.getTiedLoopYieldedValue(argument) : nullptr)
      if (visited.insert(yielded->get()).second)
        worklist.push_back(yielded->get());
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != dot->getBlock())
      continue; // such inputs are computed before this iteration's dots
    if (isa<DotOp>(op)) {
      sources.dots = true;
      continue;
    }
    constexpr unsigned fragmentBytes = 2, wideBytes = 4;
    auto load = dyn_cast<LoadOp>(op);
    bool loadsMatrix = load && isMatrix(load);
    sources.loads |= bool(load);
    sources.matrices |= loadsMatrix;
    const unsigned bytes = load ? getBytesInMemory(getElementTypeOf(load.getType())) : 0;
    sources.otherSizes |= loadsMatrix && bytes != fragmentBytes && bytes != wideBytes;
    sources.others |= !load && !isMemoryEffectFree(op);
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && visited.insert(operand).second)
        worklist.push_back(operand);
  }
  return sources;
}

/// For 16-bit types, the register fragments of a have the layout of accumulators (PTX ISA, "Register Fragments and
/// Shared Memory Matrix Layouts").
bool tile::isFragmentOfAccumulators(DotOp dot) {
  Type element = dot.getA().getType().getElementType();
  return element.isF16() || element.isBF16();
}

/// For 8-bit types, converting an accumulator to a fragment takes two shuffles per register (layout::movesByPairs).
bool tile::mayComeFromRegisters(DotOp dot) {
  return isFragmentOfAccumulators(dot) || getBytesInMemory(dot.getA().getType().getElementType()) == 1;
}

bool tile::isComputedFromDots(DotOp dot) {
  return mayComeFromRegisters(dot) && findLeftSources(dot, /*acrossIterations=*/true).dots;
}

namespace {

/// Values computed from a dot element by element.
struct Results {
  SmallVector<OpOperand *> uses; ///< Uses as operands of dots.
  SmallVector<DotOp> others;     ///< Dots from which some of these values are also computed.
};

} // namespace

static Results findResults(DotOp dot) {
  Results results;
  SmallVector<Value> forward{dot.getResult()}, backward;
  DenseSet<Value> visited;
  while (!forward.empty())
    for (OpOperand &use : forward.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isa<DotOp>(user))
        results.uses.push_back(&use);
      else if (isElementwise(user) && visited.insert(user->getResult(0)).second) {
        forward.push_back(user->getResult(0));
        llvm::append_range(backward, user->getOperands());
      }
    }
  while (!backward.empty()) {
    Operation *op = backward.pop_back_val().getDefiningOp();
    if (auto other = dyn_cast_if_present<DotOp>(op))
      results.others.push_back(other);
    else if (op && isElementwise(op) && visited.insert(op->getResult(0)).second)
      llvm::append_range(backward, op->getOperands());
  }
  return results;
}

bool tile::isInChain(DotOp dot) {
  llvm::SetVector<DotOp> sharing;
  sharing.insert(dot);
  for (size_t index = 0; index < sharing.size(); ++index) {
    DotOp current = sharing[index];
    if (isComputedFromDots(current))
      return true;
    Results results = findResults(current);
    for (OpOperand *use : results.uses) {
      auto other = cast<DotOp>(use->getOwner());
      if (use == &other.getAMutable() && mayComeFromRegisters(other))
        return true;
      if (use == &other.getAccMutable())
        sharing.insert(other);
    }
    sharing.insert(results.others.begin(), results.others.end());
    if (auto before = current.getAcc().getDefiningOp<DotOp>())
      sharing.insert(before);
  }
  return false;
}

bool tile::staysInRegisters(DotOp dot) {
  LeftSources sources = findLeftSources(dot);
  bool waitsForLoads = sources.matrices || (sources.loads && !sources.dots);
  return mayComeFromRegisters(dot) && !waitsForLoads && !sources.others;
}

bool tile::isComputedFromLoads(DotOp dot) {
  const int64_t most = target::tunedOf(cta::getTarget(dot)).computedOperandElements;
  LeftSources sources = findLeftSources(dot);
  int64_t threads = int64_t(layout::lanesPerWarp) * dot->getParentOfType<KernelOp>().getNumWarps();
  return isFragmentOfAccumulators(dot) && sources.loads && !sources.dots && !sources.otherSizes && !sources.others &&
         isa<scf::ForOp>(dot->getParentOp()) && !isa_and_present<LoadOp>(traceOperand(dot.getA()).source) &&
         dot.getA().hasOneUse() && dot.getA().getType().getNumElements() <= most * threads;
}

int64_t tile::countCarriedAccumulators(LoopLikeOpInterface loop, unsigned numWarps) {
  int64_t registers = 0;
  for (BlockArgument argument : loop.getRegionIterArgs())
    if (llvm::any_of(argument.getUsers(), [&](Operation *user) {
          auto dot = dyn_cast<DotOp>(user);
          return dot && dot.getAcc() == argument;
        }))
      registers += cast<RankedTensorType>(argument.getType()).getNumElements() / (numWarps * target::threadsPerWarp);
  return registers;
}

/// Plans the layouts for wgmma.
static DotPlan planWgmma(DotOp dot, cta::WgmmaAttr engine) {
  ArrayRef<int64_t> shape = dot.getAcc().getType().getShape();
  layout::WgmmaTiling tiling{engine.getGroupsM(), engine.getGroupsN(), target::mmaTypeBits(*getMmaType(engine.getA())),
                             engine.getN()};
  DotPlan plan{layout::wgmmaAccumulator(shape[0], shape[1], tiling), std::nullopt, std::nullopt};
  if (engine.isFromRegisters())
    plan.a = layout::wgmmaOperandA(shape[0], dot.getA().getType().getDimSize(1), tiling);
  return plan;
}

/// Plans the layouts for mma.sync.
static DotPlan planMmaSync(DotOp dot, cta::MmaSyncAttr engine) {
  ArrayRef<int64_t> shape = dot.getAcc().getType().getShape();
  int64_t k = dot.getA().getType().getDimSize(1);
  // Two 4-bit elements are moved as one byte.
  constexpr unsigned byteBits = 8;
  const unsigned elementBits = target::mmaTypeBits(*getMmaType(engine.getA())),
                 elements = elementBits < byteBits ? byteBits / elementBits : 1;
  layout::MmaTiling tiling{engine.getWarpsM(), engine.getWarpsN(), elements * elementBits, engine.getK() / elements,
                           engine.getKWidth() / elements};
  DotPlan plan{layout::mmaAccumulator(shape[0], shape[1], tiling), layout::mmaOperandA(shape[0], k, tiling),
               layout::mmaOperandB(k, shape[1], tiling)};
  if (dot.isScaled()) {
    plan.aScale = layout::mmaScalesA(shape[0], dot.getAScale().getType().getDimSize(1), tiling);
    plan.bScale = layout::mmaScalesB(shape[1], dot.getBScale().getType().getDimSize(1), tiling);
  }
  return plan;
}

DotPlan tile::planDot(DotOp dot, unsigned numWarps) {
  if (auto engine = dyn_cast<cta::WgmmaAttr>(dot.getEngineAttr()))
    return planWgmma(dot, engine);
  if (auto engine = dyn_cast<cta::Tcgen05Attr>(dot.getEngineAttr())) {
    ArrayRef<int64_t> shape = dot.getAcc().getType().getShape();
    if (engine.getResultTransposed())
      return {layout::permuteDims(layout::tensorMemoryLayout(shape[1], shape[0], engine.getWarps()), {1, 0}),
              std::nullopt, std::nullopt};
    DotPlan plan{layout::tensorMemoryLayout(shape[0], shape[1], engine.getWarps()), std::nullopt, std::nullopt};
    if (cta::BufferEngine(engine).isFromRegisters())
      plan.a = layout::tensorMemoryLayout(shape[0], dot.getA().getType().getDimSize(1), engine.getWarps());
    return plan;
  }
  if (auto engine = dyn_cast<cta::MmaSyncAttr>(dot.getEngineAttr()))
    return planMmaSync(dot, engine);
  constexpr int64_t widestBytes = 16; // the widest load from shared memory
  ArrayRef<int64_t> shape = dot.getAcc().getType().getShape();
  int64_t vector = widestBytes / getBytesInMemory(dot.getB().getType().getElementType());
  return {layout::outerProduct({shape[0], shape[1]}, vector, numWarps), std::nullopt, std::nullopt};
}

void tile::forEachOperand(DotOp dot, const DotPlan &plan,
                          llvm::function_ref<void(OpOperand &, const layout::LinearLayout &)> visit) {
  if (plan.a)
    visit(dot.getAMutable(), *plan.a);
  if (plan.b)
    visit(dot.getBMutable(), *plan.b);
  if (plan.aScale)
    visit(*dot.getAScaleMutable().begin(), *plan.aScale);
  if (plan.bScale)
    visit(*dot.getBScaleMutable().begin(), *plan.bScale);
  visit(dot.getAccMutable(), plan.accumulator);
}
