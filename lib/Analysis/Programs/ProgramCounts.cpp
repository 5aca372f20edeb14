// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts the work in a single walk; each block is counted as often as the loops around it execute it.
#include "Analysis/Programs/ProgramCounts.h"

#include "Analysis/Addresses/AxisInfo.h"
#include "Analysis/Addresses/EstimatedText.h"
#include "Analysis/Addresses/PointerBases.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace tile;
using llvm::formatv;

namespace {

constexpr int64_t sectorBytes = 32; // the granularity of L2 reads and writes

/// A sum of constants, each multiplied by an iteration count. The key is the count's expression; "" stands for one.
class Sum {
public:
  void add(const std::string &iterations, int64_t count) {
    if (count > 0)
      terms[iterations] += count;
  }
  /// Returns the value of the sum if every loop has one iteration.
  int64_t constants() const {
    int64_t all = 0;
    for (const auto &[iterations, count] : terms)
      all += count;
    return all;
  }
  std::string print() const {
    std::string text;
    for (const auto &[iterations, count] : terms) {
      text += text.empty() ? "" : " + ";
      text += iterations.empty() ? std::to_string(count)
              : count == 1       ? iterations
                                 : formatv("{0} * {1}", iterations, count).str();
    }
    return text.empty() ? "0" : text;
  }

private:
  std::map<std::string, int64_t> terms;
};

int64_t countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() : 1;
}

/// Returns true for operations that the special function unit executes in the fast versions of PTX.
bool isSpecial(Operation *op) {
  return isa<arith::DivFOp, LibraryCallOp>(op) || isa_and_nonnull<math::MathDialect>(op->getDialect());
}

class Counter {
public:
  Counter(KernelOp kernel, AxisInfoAnalysis &facts) : kernel(kernel), writer(kernel), facts(facts) {
    kernel.walk([&](Operation *op) { markAddresses(op); });
  }

  ProgramCounts run() {
    uniqueBytes = printBufferBytes();
    countBlock(kernel.getBody().front(), "");
    return {.steps = steps.print(),
            .exchanges = exchanges.print(),
            .bytes = bytes.print(),
            .rereadBytes = rereadBytes.print(),
            .tensorFlops = tensorFlops.print(),
            .operations = operations.print(),
            .special = special.print(),
            .uniqueBytes = uniqueBytes,
            .operandBits = operandBits,
            .warps = unsigned(kernel.getNumWarps())};
  }

private:
  std::string printBufferBytes() {
    std::string text;
    for (BufferAttr buffer : kernel.getLaunchAttr().getBuffers())
      for (unsigned index = 0; index < kernel.getNumArguments(); ++index) {
        Type type = kernel.getArgumentTypes()[index];
        auto pointer = dyn_cast<PtrType>(type);
        auto descriptor = dyn_cast<DescType>(type);
        if (kernel.getArgName(index) != buffer.getParameter().getValue() || (!pointer && !descriptor))
          continue;
        int64_t element = getBytesInMemory(pointer ? pointer.getPointee() : descriptor.getElementType());
        if (buffer.getRole() == BufferRole::inout)
          element *= 2;
        text += (text.empty() ? "" : " + ") + std::to_string(element);
        for (StringAttr extent : buffer.getShape())
          text += formatv(" * ({0})", extent.getValue());
      }
    return text.empty() ? "0" : text;
  }

  /// Marks the index arithmetic of addresses and masks. It is not counted, because elements share it, and most of it is
  /// hoisted out of loops.
  void markAddresses(Operation *op) {
    SmallVector<Value> next;
    llvm::TypeSwitch<Operation *>(op)
        .Case<LoadOp, StoreOp>([&](auto access) {
          next.push_back(access.getPtr());
          if (access.getMask())
            next.push_back(access.getMask());
        })
        .Case<AtomicRmwOp, AtomicCasOp>([&](auto atomic) { next.push_back(atomic.getPtr()); });
    while (!next.empty()) {
      Operation *source = next.pop_back_val().getDefiningOp();
      if (source && !isa<LoadOp, DescLoadOp>(source) && source->getNumRegions() == 0 && addresses.insert(source).second)
        llvm::append_range(next, source->getOperands());
    }
  }

  static std::string nest(const std::string &outer, const std::string &inner) {
    return outer.empty() ? inner : outer + " * " + inner;
  }

  /// Returns the number of iterations that it takes to read the program's share of all buffers. It is used for loops
  /// whose number of iterations cannot be expressed.
  std::string iterationsByBytes(Region &body) {
    Counter once(kernel, facts);
    for (Block &block : body)
      once.countBlock(block, "");
    int64_t step = once.bytes.constants();
    if (step == 0)
      return "1";
    std::string programs = writer.gridSize(0);
    for (unsigned axis = 1; axis < kernel.getLaunchAttr().getGrid().size(); ++axis)
      programs += " * " + writer.gridSize(axis);
    return formatv("max(({0}) // max({1} * {2}, 1), 1)", uniqueBytes, programs, step);
  }

  void countBlock(Block &block, const std::string &iterations) {
    steps.add(iterations, countWaits(block));
    for (Operation &op : block)
      countOperation(&op, iterations);
  }

  /// Returns the length of the longest chain of dependent loads.
  static int64_t countWaits(Block &block) {
    DenseMap<Value, int64_t> waits;
    int64_t most = 0;
    for (Operation &op : block) {
      int64_t before = 0;
      for (Value operand : op.getOperands())
        before = std::max(before, waits.lookup(operand));
      before += isa<LoadOp, DescLoadOp, AtomicRmwOp, AtomicCasOp>(op);
      for (Value result : op.getResults())
        waits[result] = before;
      most = std::max(most, before);
    }
    return most;
  }

  void countLoop(Region &body, const std::string &outer, const std::string &own) {
    bool isPipelined = false;
    body.walk([&](DotOp) { isPipelined = true; });
    const int64_t ahead = int64_t(kernel.getNumStages()) - 1;
    std::string all = nest(outer, own);
    for (Block &block : body) {
      if (isPipelined && ahead > 1)
        steps.add(nest(outer, formatv("cdiv({0}, {1})", own, ahead)), countWaits(block));
      else
        steps.add(all, countWaits(block));
      for (Operation &op : block)
        countOperation(&op, all);
    }
  }

  void countOperation(Operation *op, const std::string &iterations) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      EstimatedText own = writer.iterations(loop);
      countLoop(loop.getRegion(), iterations, own ? *own : iterationsByBytes(loop.getRegion()));
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      countLoop(loop.getAfter(), iterations, iterationsByBytes(loop.getAfter()));
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      countBranch(branch, iterations);
    } else if (isa<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp>(op)) {
      int64_t accesses = isa<AtomicRmwOp, AtomicCasOp>(op) ? 2 : 1; // a read and a write
      bytes.add(iterations, accesses * countBytes(op->getOperand(0)));
      if (isa<LoadOp>(op))
        countReread(op, iterations, countBytes(op->getOperand(0)));
    } else if (auto load = dyn_cast<DescLoadOp>(op)) {
      bytes.add(iterations, countBytes(load.getDesc().getType()));
      countReread(op, iterations, countBytes(load.getDesc().getType()));
    } else if (auto store = dyn_cast<DescStoreOp>(op)) {
      bytes.add(iterations, countBytes(store.getDesc().getType()));
    } else if (auto dot = dyn_cast<DotOp>(op)) {
      countDot(dot, iterations);
    } else if (op->getNumResults() > 0 && !addresses.contains(op)) {
      countArithmetic(op, iterations);
    }
  }

  /// Counts a load from a buffer from which an earlier loop has loaded, for example in a second pass over a row.
  /// Several loads in the same loop body do not count, because they follow each other closely and hit L1.
  void countReread(Operation *load, const std::string &iterations, int64_t count) {
    if (!isa<scf::ForOp, scf::WhileOp>(load->getParentOp()))
      return;
    PointerBases bases = PointerBases::of(load->getOperand(0));
    bool isReread = llvm::any_of(
        loopReads, [&](const auto &read) { return read.first != load->getBlock() && read.second.mayOverlap(bases); });
    if (isReread)
      rereadBytes.add(iterations, count);
    loopReads.emplace_back(load->getBlock(), bases);
  }

  /// Counts both branches, weighted by the condition. If the condition cannot be expressed, counts only the branch with
  /// more operations.
  void countBranch(scf::IfOp branch, const std::string &iterations) {
    auto countAll = [&](Region &region, const std::string &times) {
      for (Block &block : region)
        countBlock(block, times);
    };
    Region &yes = branch.getThenRegion(), &no = branch.getElseRegion();
    if (EstimatedText condition = writer.condition(branch.getCondition())) {
      countAll(yes, nest(iterations, *condition));
      return countAll(no, nest(iterations, formatv("(1 - {0})", *condition)));
    }
    auto size = [](Region &region) {
      int64_t operations = 0;
      region.walk([&](Operation *) { ++operations; });
      return operations;
    };
    countAll(size(yes) >= size(no) ? yes : no, iterations);
  }

  static int64_t countBytes(DescType block) {
    return ShapedType::getNumElements(block.getShape()) * getBytesInMemory(block.getElementType());
  }

  /// Returns the number of bytes of an access's distinct elements, in whole L2 sectors. Contiguous elements share
  /// sectors.
  int64_t countBytes(Value pointer) {
    int64_t element = getBytesInMemory(cast<PtrType>(getElementTypeOf(pointer.getType())).getPointee());
    auto type = dyn_cast<RankedTensorType>(pointer.getType());
    if (!type)
      return sectorBytes;
    const AxisInfo &info = facts.get(pointer);
    int64_t different = 1, run = 1;
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      different *= std::max<int64_t>(size / info.getConstancy(dim), 1);
      run = std::max(run, std::min(size, info.getContiguity(dim)));
    }
    return llvm::divideCeil(different, run) * llvm::alignTo(run * element, sectorBytes);
  }

  void countDot(DotOp dot, const std::string &iterations) {
    RankedTensorType a = dot.getA().getType();
    int64_t multiplications = a.getNumElements() * dot.getB().getType().getShape().back();
    exchanges.add(iterations, 1);
    if (a.getElementType().isF32() && dot.getPrecision() == InputPrecision::ieee)
      return operations.add(iterations, multiplications);
    operandBits = a.getElementType().getIntOrFloatBitWidth();
    tensorFlops.add(iterations, 2 * multiplications);
  }

  void countArithmetic(Operation *op, const std::string &iterations) {
    if (isa<ReduceOp, ScanOp, GatherOp, HistogramOp, TransOp>(op)) {
      exchanges.add(iterations, 1);
      return operations.add(iterations, countElements(op->getOperand(0).getType()));
    }
    int64_t elements = countElements(op->getResult(0).getType());
    if (isa<MapOp>(op))
      return operations.add(iterations,
                            elements * std::distance(op->getRegion(0).front().begin(), op->getRegion(0).front().end()));
    if (elements == 1 || !isElementwise(op) || op->hasTrait<OpTrait::ConstantLike>())
      return;
    (isSpecial(op) ? special : operations).add(iterations, elements);
  }

  KernelOp kernel;
  EstimateWriter writer;
  AxisInfoAnalysis &facts;
  DenseSet<Operation *> addresses;
  Sum steps, exchanges, bytes, rereadBytes, tensorFlops, operations, special;
  SmallVector<std::pair<Block *, PointerBases>> loopReads; ///< in program order
  std::string uniqueBytes = "0";
  unsigned operandBits = 16;
};

} // namespace

std::optional<ProgramCounts> tile::countProgram(KernelOp kernel) {
  LaunchAttr launch = kernel.getLaunchAttr();
  if (!launch || launch.getGrid().empty() || launch.getBuffers().empty())
    return std::nullopt;
  AxisInfoAnalysis facts(kernel);
  return Counter(kernel, facts).run();
}
