// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-allocate-tensor-memory: give accumulators their columns of tensor memory.
//
// All warps allocate tensor memory at the beginning, and free it at the end of the role that loads the accumulators.
// Two accumulators share columns if, in a block that contains all accesses to both, all accesses to one of them come
// before all accesses to the other:
//
//   %m = tensor_memory_alloc : 128x256xf32  ==>  %base = tensor_memory_open 256 through %place
//                                                %m = tensor_memory_alloc at %base + 0
//                                                …
//                                                tensor_memory_close %base, 256
#include "Cta/CtaDialect.h"
#include "Layout/SharedLayouts.h"
#include "Target/Engines/Tcgen05.h"
#include "Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace tile {
#define GEN_PASS_DEF_CTAALLOCATETENSORMEMORY
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// The positions, in program order, between which an accumulator is live, and its columns.
struct Life {
  cta::TensorMemoryAllocOp alloc;
  unsigned first = 0, last = 0, columns = 0, offset = 0;

  bool overlaps(const Life &other) const { return first <= other.last && other.first <= last; }
};

class TensorMemoryPlan {
public:
  explicit TensorMemoryPlan(KernelOp kernel) : kernel(kernel) {
    number(kernel);
    for (auto alloc : llvm::make_early_inc_range(kernel.getBody().front().getOps<cta::TensorMemoryAllocOp>()))
      if (alloc->use_empty())
        alloc->erase();
      else
        lives.push_back(findLife(alloc));
    place();
  }

  /// Returns true if another accumulator occupies some of the columns at another time.
  bool isShared(const Life &life) const {
    return llvm::any_of(lives, [&](const Life &other) {
      return other.alloc != life.alloc && other.offset < life.offset + life.columns &&
             life.offset < other.offset + other.columns;
    });
  }

  SmallVector<Life> lives;
  unsigned columns = 0; ///< Width of all accumulators together.

private:
  unsigned number(Operation *op) {
    starts[op] = next++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          number(&inner);
    return ends[op] = next - 1;
  }

  /// Returns the innermost block that contains all accesses. The first access in this block writes the accumulator, so
  /// the accumulator is not live before it.
  Block *findBlock(cta::TensorMemoryAllocOp alloc) {
    Operation *first = *alloc->user_begin();
    for (Block *block = first->getBlock();; block = block->getParentOp()->getBlock())
      if (llvm::all_of(alloc->getUsers(), [&](Operation *user) { return block->findAncestorOpInBlock(*user); }))
        return block;
  }

  Life findLife(cta::TensorMemoryAllocOp alloc) {
    Life life{alloc, ~0u, 0, alloc.getType().getColumns()};
    if (alloc.holdsScales()) { // an MMA may read the scales until it is complete, but its effects do not say so
      life.first = 0;
      life.last = ~0u;
      return life;
    }
    Block *block = findBlock(alloc);
    for (Operation *user : alloc->getUsers()) {
      Operation *outer = block->findAncestorOpInBlock(*user);
      life.first = std::min(life.first, starts.at(outer));
      life.last = std::max(life.last, ends.at(outer));
    }
    return life;
  }

  /// Allocates columns: the widest accumulators come first, and each gets the first free columns.
  void place() {
    llvm::stable_sort(lives, [](const Life &a, const Life &b) { return a.columns > b.columns; });
    for (auto current = lives.begin(); current != lives.end(); ++current) {
      SmallVector<const Life *> others;
      for (auto other = lives.begin(); other != current; ++other)
        if (other->overlaps(*current))
          others.push_back(&*other);
      llvm::sort(others, [](const Life *a, const Life *b) { return a->offset < b->offset; });
      for (const Life *other : others)
        if (other->offset < current->offset + current->columns)
          current->offset = std::max(current->offset, other->offset + other->columns);
      columns = std::max(columns, current->offset + current->columns);
    }
  }

  KernelOp kernel;
  DenseMap<Operation *, unsigned> starts, ends;
  unsigned next = 0;
};

/// Returns the block at whose end accumulators are no longer needed: the body of the role that loads them, or of the
/// kernel.
Block &findLastBlock(KernelOp kernel) {
  cta::WarpRolesOp roles = cta::findRoles(kernel);
  return roles ? roles.getAll().front().getBody().front() : kernel.getBody().front();
}

struct CtaAllocateTensorMemory : tile::impl::CtaAllocateTensorMemoryBase<CtaAllocateTensorMemory> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    TensorMemoryPlan plan(kernel);
    if (plan.lives.empty())
      return;
    if (plan.columns > target::tensorMemoryColumns) {
      kernel.emitError() << "kernel '" << kernel.getSymName() << "' needs " << plan.columns
                         << " columns of tensor memory at the same time, but a multiprocessor has "
                         << target::tensorMemoryColumns << "; use smaller blocks";
      return signalPassFailure();
    }
    unsigned columns = std::max<unsigned>(llvm::PowerOf2Ceil(plan.columns), target::minTensorMemoryColumns);
    Location loc = kernel.getLoc();
    Block &body = kernel.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    Value base = open(builder, loc, columns);
    for (Life &life : plan.lives) {
      life.alloc->moveAfter(base.getDefiningOp());
      life.alloc.getBaseMutable().assign(base);
      life.alloc.setOffsetAttr(builder.getI32IntegerAttr(life.offset));
      if (plan.isShared(life))
        orderStores(life.alloc);
    }
    Block &last = findLastBlock(kernel);
    builder.setInsertionPoint(&last, last.mightHaveTerminator() ? Block::iterator(last.getTerminator()) : last.end());
    cta::TensorMemoryCloseOp::create(builder, loc, base, columns);
  }

private:
  /// Inserts a barrier before each store of an accumulator whose columns another accumulator has used, because threads
  /// may still be loading the other accumulator. MMAs need no such barrier, because they synchronize the threads
  /// anyway.
  static void orderStores(cta::TensorMemoryAllocOp alloc) {
    for (Operation *user : alloc->getUsers()) {
      if (!isa<cta::TensorMemoryStoreOp>(user))
        continue;
      OpBuilder builder(user);
      cta::TensorMemoryFenceOp::create(builder, user->getLoc(), /*before=*/true);
      cta::BarrierOp::create(builder, user->getLoc(), /*groups=*/false);
      cta::TensorMemoryFenceOp::create(builder, user->getLoc(), /*before=*/false);
    }
  }

  static Value open(OpBuilder &builder, Location loc, unsigned columns) {
    constexpr int64_t words = 4; // a buffer has at least 16 bytes
    auto layout = cta::LayoutAttr::get(builder.getContext(), layout::unswizzledShared({words}, {0}));
    auto type = cta::BufferType::get(builder.getContext(), {words}, builder.getI32Type(), layout, /*slots=*/1);
    Value place = cta::AllocOp::create(builder, loc, type, /*offset=*/IntegerAttr());
    return cta::TensorMemoryOpenOp::create(builder, loc, builder.getI32Type(), columns, place);
  }
};

} // namespace
