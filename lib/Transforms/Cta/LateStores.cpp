// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transforms/Cta/LateStores.h"

#include "Analysis/Programs/RolePlan.h"
#include "Cta/CtaDialect.h"
#include "Target/Tuned.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

namespace {

bool isPlain(Operation *op) {
  return op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>() && isMemoryEffectFree(op);
}

/// Returns true if the value is loaded in `block`, or computed there element by element from loaded values.
bool isLoadedIn(Block *block, Value value) {
  llvm::SetVector<Value> reached; // many values may be used along many paths, so each is visited once
  reached.insert(value);
  for (size_t next = 0; next < reached.size(); ++next) {
    Operation *op = reached[next].getDefiningOp();
    if (!op || op->getBlock() != block)
      continue;
    if (isa<LoadOp>(op))
      return true;
    if (isElementwise(op) || isa<cta::ConvertLayoutOp>(op))
      reached.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// Collects stores of a block that can still move after the next load, and the fence after the last of them.
class LateStores {
public:
  explicit LateStores(int64_t maxRegisters) : maxRegisters(maxRegisters) {}

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto store = dyn_cast<cta::LocalStoreOp>(op);
      auto nextFence = dyn_cast<cta::ProxyFenceOp>(op);
      auto load = dyn_cast<LoadOp>(op);
      if (store && isLoadedIn(&block, store.getValue())) {
        stores.push_back(store);
        registers += countRegisters(store.getValue());
      } else if (nextFence && !stores.empty()) {
        if (fence)
          fence.erase();
        fence = nextFence;
      } else if (load && !load.getIsVolatile() && registers + countRegisters(load.getResult()) <= maxRegisters) {
        moveStoresAfter(load);
      } else if (load || !(isa<cta::AllocOp>(op) || isPlain(&op))) {
        stores.clear();
        fence = {};
        registers = 0;
      }
    }
  }

private:
  void moveStoresAfter(LoadOp load) {
    Operation *next = load->getNextNode();
    for (cta::LocalStoreOp store : stores)
      store->moveBefore(next);
    if (fence)
      fence->moveBefore(next);
  }

  int64_t maxRegisters, registers = 0;
  SmallVector<cta::LocalStoreOp> stores;
  cta::ProxyFenceOp fence;
};

} // namespace

void tile::storeLate(KernelOp kernel) {
  const target::Tuned &tuned = target::tunedOf(cta::getTarget(kernel));
  kernel.walk([&](Block *block) {
    auto loop = dyn_cast<LoopLikeOpInterface>(block->getParentOp());
    int64_t carried = 0;
    for (BlockArgument argument : loop ? block->getArguments() : Block::BlockArgListType())
      carried += countRegisters(argument);
    LateStores(std::min(tuned.lateStoreRegisters, tuned.lateStoreRegistersInLoops - carried)).run(*block);
  });
}
