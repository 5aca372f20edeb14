// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvvm-sink-fragments: compute each fragment of a left operand right before the wgmma that reads it.
//
// The k steps of a stepwise cta.wgmma are separate statements. While the tensor cores compute a step, the threads read
// and convert the fragment of the next step:
//
//   %x0 = load, convert                   %x0 = load, convert
//   %x1 = load, convert                   wgmma %x0
//   wgmma %x0                       ==>   %x1 = load, convert
//   wgmma %x1, commit                     wgmma %x1, commit
#include "Conversion/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/DenseMap.h"

namespace tile {
#define GEN_PASS_DEF_NVVMSINKFRAGMENTS
#include "Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

bool loadsShared(Operation *op) {
  auto load = dyn_cast<LLVM::LoadOp>(op);
  constexpr unsigned sharedSpace = 3;
  return load && !load.getVolatile_() &&
         cast<LLVM::LLVMPointerType>(load.getAddr().getType()).getAddressSpace() == sharedSpace;
}

/// The statements of one wgmma, in order.
class Steps {
public:
  explicit Steps(ArrayRef<Operation *> statements) : statements(statements), firstOf(statements) {
    for (size_t step = 1; step < statements.size(); ++step) {
      firstOf[step] = statements[step - 1]->getNextNode();
      for (Operation *op = firstOf[step]; op != statements[step]->getNextNode(); op = op->getNextNode())
        stepOf[op] = step;
    }
  }

  /// Finds operations before the first step whose results are used only by later steps, and moves them to just before
  /// the first step that uses them. Loads do not move across operations with side effects.
  void sink() {
    bool mayLoad = true;
    SmallVector<Operation *> before;
    for (Operation *op = statements.front()->getPrevNode(); op; op = op->getPrevNode())
      before.push_back(op);
    for (Operation *op : before) {
      bool isLoad = loadsShared(op);
      if (!isLoad && !isMemoryEffectFree(op))
        mayLoad = false;
      else if (!isLoad || mayLoad)
        sink(op);
    }
  }

private:
  void sink(Operation *op) {
    size_t step = statements.size();
    for (Operation *user : op->getUsers())
      step = std::min(step, stepOf.lookup_or(user, 0));
    if (step == 0 || step == statements.size())
      return;
    op->moveBefore(firstOf[step]);
    firstOf[step] = op;
    stepOf[op] = step;
  }

  ArrayRef<Operation *> statements;
  SmallVector<Operation *> firstOf; ///< For each step, the first of the operations that only this step and later ones
                                    ///< use.
  DenseMap<Operation *, size_t> stepOf;
};

struct NvvmSinkFragments : tile::impl::NvvmSinkFragmentsBase<NvvmSinkFragments> {
  void runOnOperation() override {
    SmallVector<SmallVector<Operation *>> wgmmas;
    bool isComplete = true;
    getOperation()->walk([&](LLVM::InlineAsmOp statement) {
      StringRef text = statement.getAsmString();
      if (!text.contains("wgmma.mma_async"))
        return;
      if (isComplete || wgmmas.back().back()->getBlock() != statement->getBlock())
        wgmmas.emplace_back();
      wgmmas.back().push_back(statement);
      isComplete = text.contains("wgmma.commit_group");
    });
    for (ArrayRef<Operation *> statements : wgmmas)
      Steps(statements).sink();
  }
};

} // namespace
