// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads for transpositions; see Transpositions.h.
#include "Transforms/Cta/Transpositions.h"

#include "Analysis/Flow/Recreate.h"
#include "Layout/SharedLayouts.h"
#include "Layout/Transposition.h"

using namespace mlir;
using namespace tile;

std::optional<unsigned> tile::getContiguousDim(cta::BufferType buffer) {
  std::optional<layout::SwizzleForm> form =
      layout::matchSwizzle(buffer.getLayout().getLayout(), getBytesInMemory(buffer.getElementType()));
  return form ? std::optional(form->order.front()) : std::nullopt;
}

Value tile::readForTransposition(OpBuilder &builder, Location loc, RankedTensorType matrix, Value buffer,
                                 unsigned from) {
  layout::LinearLayout registers = layout::planTransposition(
      matrix.getShape().vec(), getBytesInMemory(matrix.getElementType()), from, cta::getLayout(matrix).numWarps());
  auto read = cta::withLayout(matrix, cta::LayoutAttr::get(matrix.getContext(), registers));
  return cta::LocalLoadOp::create(builder, loc, read, buffer, /*start=*/{});
}

void tile::readTransposedBlocks(KernelOp kernel) {
  kernel.walk([](cta::LocalStoreOp store) {
    auto load = store.getValue().getDefiningOp<cta::LocalLoadOp>();
    bool isBlock = load && llvm::any_of(load.getBuffer().getUsers(), llvm::IsaPred<cta::TmaLoadSyncOp>);
    std::optional<unsigned> from = isBlock ? getContiguousDim(load.getBuffer().getType()) : std::nullopt,
                            to = getContiguousDim(store.getBuffer().getType());
    if (!from || !to || *from == *to || load.getType().getRank() != 2)
      return;
    OpBuilder builder(store);
    store.getValueMutable().assign(
        readForTransposition(builder, load.getLoc(), load.getType(), load.getBuffer(), *from));
    eraseIfUnused(load.getResult());
  });
}
