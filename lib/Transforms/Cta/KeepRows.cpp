// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-keep-rows: keep what is loaded once and computed with several times in shared memory, not in registers.
//
// A row that is reduced and then written waits in registers while its threads meet. Of 32,768 halves those are 16 of
// each of 1024 threads, or 32 of 512, and as many again once they are widened: a multiprocessor holds one or two CTAs,
// or spills, and memory has nothing to do while they reduce. Shared memory holds three such rows:
//
//   %x = tile.load %p mask %m                  cta.async_copy %p, %b mask %m; commit; wait 0
//   %y = arith.extf %x                         %x = cta.local_load %b
//   %s = tile.reduce %y …              ==>     %s = tile.reduce (arith.extf %x) …
//   tile.store %q, f(%y, %s)                   %z = cta.local_load %b
//                                              tile.store %q, f(arith.extf %z, %s)
//
// After each reduction in which warps wait for each other a thread loads what it copied, and computes again of that
// what is cheap. Rows of fewer registers stay there (bench/results/h200/row-kernels.md).
#include "Analysis/RolePlan.h"
#include "Cta/CtaDialect.h"
#include "Layout/SharedLayouts.h"
#include "Target/Plan/Residency.h"
#include "Target/Tuned.h"
#include "Transforms/Cta/CopiedLoads.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallSet.h"

namespace tile {
#define GEN_PASS_DEF_CTAKEEPROWS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Whether warps wait for each other in the operation.
bool meets(Operation *op) {
  return op
      ->walk([](ReduceOp reduce) {
        const layout::LinearLayout &layout = cta::getLayout(cast<RankedTensorType>(reduce.getSrcs().front().getType()));
        bool isAcross = llvm::any_of(layout.bases(layout::warpDim),
                                     [&](const std::vector<int32_t> &basis) { return basis[reduce.getAxis()] != 0; });
        return isAcross ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a thread has nothing to keep for each of the elements: one number for all, or a bit for each.
bool takesNoRegisters(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || type.getElementType().isInteger(1) || value.getDefiningOp<SplatOp>() ||
         matchPattern(value, m_Constant());
}

/// An instruction or two for each element.
bool isCheap(Operation *op) {
  bool isArithmetic = isa_and_present<arith::ArithDialect>(op->getDialect()) &&
                      !isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
                           arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp>(op);
  return (isArithmetic || isa<math::ExpOp, math::Exp2Op>(op)) && op->getNumResults() == 1 && isElementwise(op) &&
         isMemoryEffectFree(op);
}

/// What a block loads into shared memory, and computes of that.
class RowKeeper {
public:
  explicit RowKeeper(Block &block) : block(block) {
    unsigned segment = 0;
    for (Operation &op : block) {
      segments[&op] = segment;
      segment += meets(&op);
    }
  }

  void run(const target::GpuTarget &gpu) {
    for (auto load : block.getOps<LoadOp>())
      if (mayBeKept(load) && isWorthKeeping(load, gpu)) {
        rows.insert({load, Value()});
        if (!isNeededAgain(load))
          rows.erase(load);
      }
    if (rows.empty())
      return;
    SmallVector<Operation *> all(llvm::make_pointer_range(block));
    for (auto &[op, buffer] : rows) {
      auto load = cast<LoadOp>(op);
      buffer = copyToBuffer(load, load.getVector(), planCopyLayout(load));
    }
    SmallVector<std::pair<OpOperand *, Value>> replaced;
    for (Operation *op : all)
      op->walk([&](Operation *user) {
        for (OpOperand &operand : user->getOpOperands())
          if (isOfRow(operand.get()))
            replaced.emplace_back(&operand, getIn(segments[op], operand.get(), op));
      });
    for (auto [operand, value] : replaced)
      operand->set(value);
    for (Operation *op : llvm::reverse(all))
      if (isOpTriviallyDead(op) || rows.contains(op))
        op->erase();
  }

private:
  /// 16 bytes at a time.
  static bool mayBeKept(LoadOp load) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    return type && canBeCopied(load) && load.getVector() * getBytesInMemory(type.getElementType()) == 16;
  }

  /// Whether it takes so many registers that fewer CTAs run side by side than shared memory has room for.
  bool isWorthKeeping(LoadOp load, const target::GpuTarget &gpu) {
    const target::Tuned &tuned = target::tunedOf(gpu);
    const int64_t threads = load->getParentOfType<KernelOp>().getNumWarps() * target::threadsPerWarp,
                  words = countRegisters(load.getResult());
    if (words < (threads == target::maxThreadsPerCta ? tuned.keptRowRegistersOfLargestCta : tuned.keptRowRegisters))
      return false;
    int64_t more = bytes + words * 4 * threads;
    int64_t ctas = target::planResidency(gpu, {.threads = threads, .sharedBytes = more}).ctas();
    if (ctas < 2 ||
        ctas < target::planResidency(gpu, {.threads = threads, .registers = words + tuned.spareRegistersOfRows})
                   .byRegisters)
      return false;
    bytes = more;
    return true;
  }

  /// Whether the value is a row, or computed of rows at little cost.
  bool isOfRow(Value value, unsigned depth = 0) const {
    constexpr unsigned deepest = 6;
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block)
      return false;
    if (rows.contains(op))
      return true;
    if (depth == deepest || !isCheap(op) || !isa<RankedTensorType>(value.getType()))
      return false;
    bool isOne = false;
    for (Value operand : op->getOperands()) {
      bool isOperandOne = isOfRow(operand, depth + 1);
      if (!isOperandOne && !takesNoRegisters(operand))
        return false;
      isOne |= isOperandOne;
    }
    return isOne;
  }

  /// Whether the row, or what is computed of it, is needed before and after threads have met.
  bool isNeededAgain(LoadOp load) const {
    SmallVector<Value> values = {load.getResult()};
    llvm::SmallSet<unsigned, 4> places;
    while (!values.empty())
      for (Operation *user : values.pop_back_val().getUsers()) {
        if (user->getBlock() == &block && user->getNumResults() == 1 && isOfRow(user->getResult(0)))
          values.push_back(user->getResult(0));
        else
          places.insert(segments.lookup(block.findAncestorOpInBlock(*user)));
      }
    return places.size() > 1;
  }

  /// The value, of a row, as it is computed in a segment; before `user`, the first that needs it there.
  Value getIn(unsigned segment, Value value, Operation *user) {
    Operation *op = value.getDefiningOp();
    auto row = rows.find(op);
    bool isRow = row != rows.end();
    if (!isRow && segments[op] == segment)
      return value;
    if (Value known = computed.lookup({value, segment}))
      return known;
    OpBuilder builder(user);
    Value again;
    if (isRow) {
      auto type = cast<RankedTensorType>(value.getType());
      again = cta::LocalLoadOp::create(builder, op->getLoc(), type, row->second, /*start=*/{});
    } else {
      IRMapping map;
      for (Value operand : op->getOperands())
        if (isOfRow(operand))
          map.map(operand, getIn(segment, operand, user));
      again = builder.clone(*op, map)->getResult(0);
    }
    computed[{value, segment}] = again;
    return again;
  }

  Block &block;
  int64_t bytes = 0; ///< Of shared memory for the rows.
  /// How often the threads of the CTA have met before an operation of the block.
  DenseMap<Operation *, unsigned> segments;
  llvm::MapVector<Operation *, Value> rows; ///< The loads, and the buffer of each.
  DenseMap<std::pair<Value, unsigned>, Value> computed;
};

/// Whether nothing else has its own use for shared memory, and for registers.
bool hasRowsAlone(KernelOp kernel) {
  return !kernel
              .walk([](Operation *op) {
                return isa<cta::AllocOp, DotOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

bool isInLoop(Block *block) {
  Operation *parent = block->getParentOp();
  return isa<LoopLikeOpInterface>(parent) || parent->getParentOfType<LoopLikeOpInterface>();
}

struct CtaKeepRows : tile::impl::CtaKeepRowsBase<CtaKeepRows> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    if (!gpu.has(target::Feature::AsyncCopy) || !hasRowsAlone(kernel))
      return;
    SmallVector<Block *> blocks;
    kernel.walk([&](Block *block) {
      if (!isInLoop(block))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      RowKeeper(*block).run(gpu);
  }
};

} // namespace
