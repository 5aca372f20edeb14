// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AxisInfo: the lattice, and the data-flow analysis that carries it through structured control flow.
//
// The analysis is MLIR's sparse forward analysis: it visits an operation when the facts of an operand change, joins the
// initial and yielded values of loops, and stops at a fixed point. It terminates because facts only get weaker: they
// are powers of two that shrink. The rules of the operations are in AxisInfoRules.cpp and AxisInfoArith.cpp.
#include "Analysis/Addresses/AxisInfo.h"
#include "Analysis/Addresses/AxisInfoRules.h"

#include "Tile/TileDialect.h"

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;

// Operations of the lattice.

int64_t tile::getPowerOfTwoDivisor(int64_t value) {
  // The lowest set bit; for the smallest integer this is the sign bit.
  uint64_t bits = value, lowest = bits & (~bits + 1);
  return bits == 0 ? AxisInfo::maxDivisibility : std::min<uint64_t>(lowest, AxisInfo::maxDivisibility);
}

static int64_t getStep(Type type) {
  auto pointer = dyn_cast<PtrType>(getElementTypeOf(type));
  return pointer ? getBytesInMemory(pointer.getPointee()) : 1;
}

AxisInfo AxisInfo::unknown(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  // A tensor of rank 0 holds one element, like a scalar.
  unsigned rank = tensor ? std::max<int64_t>(tensor.getRank(), 1) : 1;
  AxisInfo info;
  info.contiguity.assign(rank, 1);
  info.divisibility.assign(rank, 1);
  info.constancy.assign(rank, 1);
  info.step = getStep(type);
  info.range = IntegerRange::ofType(type);
  return info;
}

AxisInfo AxisInfo::fromConstant(Type type, int64_t value) {
  AxisInfo info = unknown(type);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (auto [axis, size] : llvm::enumerate(tensor.getShape()))
      info.constancy[axis] = getPowerOfTwoDivisor(size);
  info.divisibility.assign(info.getRank(), getPowerOfTwoDivisor(value));
  info.constant = value;
  info.range = IntegerRange::ofConstant(value);
  return info;
}

AxisInfo AxisInfo::join(const AxisInfo &lhs, const AxisInfo &rhs) {
  if (lhs.getRank() == 0)
    return rhs;
  if (rhs.getRank() == 0)
    return lhs;
  assert(lhs.getRank() == rhs.getRank() && lhs.step == rhs.step && "joined values must have the same type");
  AxisInfo result = lhs;
  for (unsigned dim = 0; dim < lhs.getRank(); ++dim) {
    int64_t group = std::min(lhs.contiguity[dim], rhs.contiguity[dim]);
    result.contiguity[dim] = group;
    result.divisibility[dim] =
        std::min(lhs.getDivisibilityOfGroups(dim, group), rhs.getDivisibilityOfGroups(dim, group));
    result.constancy[dim] = std::min(lhs.constancy[dim], rhs.constancy[dim]);
  }
  if (lhs.constant != rhs.constant)
    result.constant.reset();
  result.range = lhs.range.widen(rhs.range);
  // The assumption adds nothing if the joined range is non-negative; then keep it only if both sides make it.
  result.nonNegativeOffset = result.isNonNegative() ? lhs.nonNegativeOffset && rhs.nonNegativeOffset
                                                    : lhs.isNonNegativeOffset() && rhs.isNonNegativeOffset();
  result.isAssumed = lhs.isAssumed || rhs.isAssumed;
  return result;
}

int64_t AxisInfo::getAlignedContiguity(unsigned dim) const {
  return std::min(contiguity[dim], std::max<int64_t>(divisibility[dim] / step, 1));
}

int64_t AxisInfo::getDivisibilityOfGroups(unsigned dim, int64_t group) const {
  assert(group <= contiguity[dim] && "the elements of a group must be consecutive");
  if (group == contiguity[dim])
    return divisibility[dim];
  return std::min(divisibility[dim], getPowerOfTwoDivisor(group * step));
}

int64_t AxisInfo::getDivisibilityOfAll() const {
  // The groups of each dimension cover all elements, so the strongest of the dimensions' facts applies to all elements.
  int64_t best = 1;
  for (unsigned dim = 0; dim < getRank(); ++dim)
    best = std::max(best, getDivisibilityOfGroups(dim, 1));
  return best;
}

void AxisInfo::print(raw_ostream &os) const {
  auto printList = [&](StringRef name, ArrayRef<int64_t> values) {
    os << name << " = [";
    llvm::interleaveComma(values, os);
    os << "]";
  };
  printList("contiguity", contiguity);
  printList(", divisibility", divisibility);
  printList(", constancy", constancy);
  if (constant)
    os << ", constant = " << *constant;
  if (isNonNegative())
    os << ", nonnegative";
  else if (nonNegativeOffset)
    os << ", nonnegative offset";
}

// The data-flow analysis.

namespace {

struct AxisLattice : dataflow::Lattice<AxisInfo> {
  using Lattice::Lattice;
};

/// Returns the range of an induction variable that starts at `first`, is always a multiple of `divisor`, and stays
/// below `end`. For a loop without iterations, any range is correct.
IntegerRange rangeOfCounter(const IntegerRange &first, const IntegerRange &end, int64_t divisor) {
  auto last = [&](int64_t end) {
    int64_t value = end == std::numeric_limits<int64_t>::min() ? end : end - 1;
    return value < 0 ? value : value - value % divisor;
  };
  return {first.smallest, std::max(first.smallest, last(end.largest)), std::max(first.smallest, last(end.usual))};
}

class AxisDataFlow : public dataflow::SparseForwardDataFlowAnalysis<AxisLattice> {
public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;

  LogicalResult visitOperation(Operation *op, ArrayRef<const AxisLattice *> operands,
                               ArrayRef<AxisLattice *> results) override {
    SmallVector<const AxisInfo *> infos;
    for (const AxisLattice *operand : operands) {
      // An operand has not been reached yet; the operation is visited again later.
      if (operand->getValue().getRank() == 0)
        return success();
      infos.push_back(&operand->getValue());
    }
    for (auto [index, result] : llvm::enumerate(results)) {
      AxisInfo info = inferAxisInfo(op, index, infos);
      addAssumptions(result->getAnchor(), info);
      propagateIfChanged(result, result->join(info));
    }
    return success();
  }

  /// Handles the induction variable of a loop, whose other arguments are handled as control flow, and the program
  /// coordinates that tile.programs passes to its body.
  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor, ArrayRef<AxisLattice *> arguments,
                                    unsigned firstIndex) override {
    if (isa<ProgramsOp>(op)) {
      for (AxisLattice *argument : arguments) {
        AxisInfo info = AxisInfo::unknown(argument->getAnchor().getType());
        info.range = IntegerRange::ofPrograms(std::numeric_limits<int32_t>::max());
        propagateIfChanged(argument, argument->join(info));
      }
      return;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(op, successor, arguments, firstIndex);
    ProgramPoint *point = getProgramPointBefore(loop.getBody());
    const AxisInfo &first = getLatticeElementFor(point, loop.getLowerBound())->getValue();
    const AxisInfo &end = getLatticeElementFor(point, loop.getUpperBound())->getValue();
    const AxisInfo &step = getLatticeElementFor(point, loop.getStep())->getValue();
    if (first.getRank() == 0 || step.getRank() == 0 || end.getRank() == 0)
      return;
    AxisInfo info = AxisInfo::unknown(loop.getInductionVar().getType());
    info.divisibility[0] = std::min(first.getDivisibilityOfAll(), step.getDivisibilityOfAll());
    // An unsigned loop may count beyond the largest signed integer.
    info.nonNegativeOffset = first.isNonNegativeOffset() && !loop.getUnsignedCmp();
    if (!loop.getUnsignedCmp() || (first.isNonNegative() && end.isNonNegative()))
      info.range = rangeOfCounter(first.range, end.range, info.divisibility[0]);
    propagateIfChanged(arguments[0], arguments[0]->join(info));
  }

  /// A kernel has no callers in the IR, so the facts about its arguments are those that the launcher guarantees.
  void visitCallableOperation(CallableOpInterface, ArrayRef<dataflow::AbstractSparseLattice *> arguments) override {
    AbstractSparseForwardDataFlowAnalysis::setAllToEntryStates(arguments);
  }

  void setToEntryState(AxisLattice *lattice) override {
    auto argument = dyn_cast<BlockArgument>(lattice->getAnchor());
    AxisInfo info = argument ? inferArgumentAxisInfo(argument) : AxisInfo::unknown(lattice->getAnchor().getType());
    addAssumptions(lattice->getAnchor(), info);
    propagateIfChanged(lattice, lattice->join(info));
  }
};

} // namespace

AxisInfoAnalysis::AxisInfoAnalysis(Operation *kernel) : solver(std::make_unique<DataFlowSolver>()) {
  dataflow::loadBaselineAnalyses(*solver);
  solver->load<AxisDataFlow>();
  // The states are usable only if the analysis succeeds: before the fixed point, they are too optimistic. Without
  // states, every value is unknown.
  if (failed(solver->initializeAndRun(kernel)))
    solver = std::make_unique<DataFlowSolver>();
}

AxisInfoAnalysis::~AxisInfoAnalysis() = default;

const AxisInfo &AxisInfoAnalysis::get(Value value) {
  const AxisLattice *lattice = solver->lookupState<AxisLattice>(value);
  if (lattice && lattice->getValue().getRank() != 0)
    return lattice->getValue();
  std::unique_ptr<AxisInfo> &info = unreached[value];
  if (!info)
    info = std::make_unique<AxisInfo>(AxisInfo::unknown(value.getType()));
  return *info;
}
