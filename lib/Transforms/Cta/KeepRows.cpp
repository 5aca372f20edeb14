// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-keep-rows: keep data that is loaded once and used several times in shared memory, not in registers.
//
// A row that is reduced and then written stays in registers while its threads synchronize. A row of 32,768 f16 elements
// takes 16 registers in each of 1024 threads, or 32 registers in each of 512 threads, and twice as many when it is
// widened. Only one or two CTAs then fit on a multiprocessor, or registers spill, and memory idles while the CTAs
// reduce. Shared memory holds three such rows:
//
//   %x = tile.load %p mask %m                  cta.async_copy %p, %b mask %m; commit; wait 0
//   %y = arith.extf %x                         %x = cta.local_load %b
//   %s = tile.reduce %y …              ==>     %s = tile.reduce (arith.extf %x) …
//   tile.store %q, f(%y, %s)                   %z = cta.local_load %b
//                                              tile.store %q, f(arith.extf %z, %s)
//
// After each reduction that synchronizes warps, a thread reloads the elements that it copied and recomputes cheap
// functions of them. Rows that take only a few registers stay in registers (bench/results/h200/row-kernels.md).
#include "Analysis/Programs/RolePlan.h"
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

/// Returns true if the operation makes warps synchronize.
bool synchronizesWarps(Operation *op) {
  return op
      ->walk([](ReduceOp reduce) {
        const layout::LinearLayout &layout = cta::getLayout(cast<RankedTensorType>(reduce.getSrcs().front().getType()));
        bool isAcross = llvm::any_of(layout.bases(layout::warpDim),
                                     [&](const std::vector<int32_t> &basis) { return basis[reduce.getAxis()] != 0; });
        return isAcross ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns true if the value takes no register per element: it is one scalar for all elements, or one bit for each
/// element.
bool takesNoRegisters(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || type.getElementType().isInteger(1) || value.getDefiningOp<SplatOp>() ||
         matchPattern(value, m_Constant());
}

/// Returns true for elementwise operations that take one or two instructions per element.
bool isCheap(Operation *op) {
  bool isArithmetic = isa_and_present<arith::ArithDialect>(op->getDialect()) &&
                      !isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
                           arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp>(op);
  return (isArithmetic || isa<math::ExpOp, math::Exp2Op>(op)) && op->getNumResults() == 1 && isElementwise(op) &&
         isMemoryEffectFree(op);
}

/// Moves the rows that a block loads to shared memory and recomputes values from them.
class RowKeeper {
public:
  explicit RowKeeper(Block &block) : block(block) {
    unsigned segment = 0;
    for (Operation &op : block) {
      segments[&op] = segment;
      segment += synchronizesWarps(&op);
    }
  }

  void run(const target::GpuTarget &gpu) {
    for (auto load : block.getOps<LoadOp>())
      if (mayBeKept(load) && isWorthKeeping(load, gpu)) {
        rows.insert({load, Value()});
        if (!isReused(load))
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
  /// Returns true if the load can be a copy of 16 bytes per thread at a time.
  static bool mayBeKept(LoadOp load) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    return type && canBeCopied(load) && load.getVector() * getBytesInMemory(type.getElementType()) == 16;
  }

  /// Returns true if the load takes so many registers that fewer CTAs are resident than shared memory would allow.
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

  /// Returns true if the value is a row, or cheap to recompute from rows.
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

  /// Returns true if the row, or a value computed from it, is used before and after threads synchronize.
  bool isReused(LoadOp load) const {
    SmallVector<Value> values = {load.getResult()};
    llvm::SmallSet<unsigned, 4> segmentsOfUses;
    while (!values.empty())
      for (Operation *user : values.pop_back_val().getUsers()) {
        if (user->getBlock() == &block && user->getNumResults() == 1 && isOfRow(user->getResult(0)))
          values.push_back(user->getResult(0));
        else
          segmentsOfUses.insert(segments.lookup(block.findAncestorOpInBlock(*user)));
      }
    return segmentsOfUses.size() > 1;
  }

  /// Returns `value` for use in a segment. If needed, the value is recomputed from its row, and the computation is
  /// inserted before `user`, the first use in the segment.
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
  int64_t bytes = 0; ///< Shared memory for the rows.
  /// The number of synchronizations of the CTA's threads before an operation of the block.
  DenseMap<Operation *, unsigned> segments;
  llvm::MapVector<Operation *, Value> rows; ///< The loads, and the buffer of each.
  DenseMap<std::pair<Value, unsigned>, Value> computed;
};

/// Returns true if nothing else competes for shared memory and registers.
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
