// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classifies the operations of a loop, except for arithmetic; see LoopContents.h.
#include "Analysis/Loops/LoopContents.h"

#include "Cta/CtaDialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

/// Returns nullopt for operations that occur in every loop.
static std::optional<LoopContent> classify(Operation *op) {
  using enum LoopContent;
  using Result = std::optional<LoopContent>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](LoadOp load) { return load.getIsVolatile() ? other : LoopContent::load; })
      .Case([](StoreOp) { return store; })
      .Case([](scf::IfOp) { return branch; })
      .Case<ReduceOp, ScanOp>([](auto) { return reduction; })
      .Case<GatherOp, HistogramOp>([](auto) { return exchange; })
      .Case([](cta::WgmmaOp) { return groupMma; })
      .Case([](cta::MmaSyncOp) { return warpMma; })
      .Case([](cta::FmaDotOp) { return threadDot; })
      .Case([](cta::TmaLoadSyncOp) { return tmaCopy; })
      .Case([](cta::AsyncCopyOp) { return asyncCopy; })
      .Case<cta::AllocOp, cta::MbarrierAllocOp, cta::LocalLoadOp, cta::AwaitOp>([](auto) { return blockRead; })
      .Default([](Operation *op) -> Result {
        if (isa<LoopLikeOpInterface>(op))
          return innerLoop;
        return isMemoryEffectFree(op) ? Result() : other;
      });
}

LoopContents LoopContents::of(scf::ForOp loop) {
  LoopContents contents;
  loop.getBody()->walk([&](Operation *op) {
    if (std::optional<LoopContent> content = classify(op))
      contents.found.set(unsigned(*content));
  });
  return contents;
}

LoopContents::Found LoopContents::of(std::initializer_list<LoopContent> contents) {
  Found set;
  for (LoopContent content : contents)
    set.set(unsigned(content));
  return set;
}

bool LoopContents::hasAny(std::initializer_list<LoopContent> contents) const {
  return (found & of(contents)).any();
}

bool LoopContents::hasOnly(std::initializer_list<LoopContent> contents) const {
  return (found & ~of(contents)).none();
}

std::string LoopContents::print() const {
  constexpr const char *names[] = {"load",     "store",   "branch",   "inner loop", "reduction",  "exchange", "wgmma",
                                   "mma.sync", "FMA dot", "TMA copy", "async copy", "block read", "other"};
  static_assert(std::size(names) == count);
  SmallVector<StringRef> texts;
  for (unsigned content = 0; content < count; ++content)
    if (found[content])
      texts.push_back(names[content]);
  return texts.empty() ? "nothing" : llvm::join(texts, ", ");
}
