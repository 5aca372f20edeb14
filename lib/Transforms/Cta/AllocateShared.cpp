// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-allocate-shared: place buffers in shared memory.
//
// The largest buffer first, each at the lowest offset where it overlaps no placed buffer that lives at the same time:
//
//   offset  0 ┌─────────────┬────────┐        a and c never live together, so they share bytes;
//             │ a           │ c      │        cta-insert-barriers orders the accesses
//             ├──────┬──────┴────────┤
//             │      │ b             │
//             └──────┴───────────────┘ time
//
// Where little is needed, no buffer shares bytes, which saves barriers.
//
// Offsets are multiples of 128 bytes (all banks, and the alignment of a bulk copy); a tile with a hardware swizzle of W
// bytes is aligned to 8 W, because the swizzle is a function of the address. Rings of mbarriers follow all
// buffers and share nothing.
#include "Analysis/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Layout/SharedLayouts.h"
#include "Target/GpuTarget.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_CTAALLOCATESHARED
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct Placement {
  BufferLife life;
  int64_t bytes = 0;
  int64_t offset = 0;
};

int64_t getAlignment(cta::BufferType type) {
  std::optional<layout::SwizzleForm> form =
      layout::matchSwizzle(type.getLayout().getLayout(), getBytesInMemory(type.getElementType()));
  int64_t pattern = form ? 8 * int64_t(form->swizzleBytes) : 0;
  return type.getBytesPerSlot() >= pattern ? std::max<int64_t>(pattern, 128) : 128;
}

/// The lowest offset where `buffer` does not touch any of `placed` that lives at the same time, or any at all.
int64_t findOffset(const Placement &buffer, ArrayRef<Placement> placed, bool share) {
  int64_t alignment = getAlignment(buffer.life.getType());
  int64_t offset = 0;
  // `placed` is in order of offsets, so one pass meets the obstacles from below.
  for (const Placement &other : placed)
    if ((!share || other.life.overlaps(buffer.life)) && other.offset < offset + buffer.bytes &&
        offset < other.offset + other.bytes)
      offset = llvm::alignTo(other.offset + other.bytes, alignment);
  return offset;
}

/// Bytes for each thread of a CTA with which a multiprocessor still holds as many threads as it can (227 KiB for 2048,
/// and 1 KiB for each CTA), with a margin.
constexpr int64_t freeBytesPerThread = 32;

SmallVector<Placement> planPlacement(ArrayRef<BufferLife> lives, int64_t threads) {
  SmallVector<Placement> order;
  int64_t sum = 0;
  for (const BufferLife &life : lives) {
    order.push_back({life, life.getType().getBytes()});
    sum += llvm::alignTo(order.back().bytes, getAlignment(life.getType()));
  }
  bool share = sum > freeBytesPerThread * threads;
  llvm::stable_sort(order, [](const Placement &a, const Placement &b) { return a.bytes > b.bytes; });
  SmallVector<Placement> placed;
  for (Placement &buffer : order) {
    buffer.offset = findOffset(buffer, placed, share);
    placed.insert(llvm::upper_bound(placed, buffer.offset,
                                    [](int64_t offset, const Placement &other) { return offset < other.offset; }),
                  buffer);
  }
  return placed;
}

std::string describe(Location location) {
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    return llvm::formatv("{0}:{1}:{2}", file.getFilename().getValue(), file.getLine(), file.getColumn());
  return "unknown place";
}

/// One line for each buffer, the largest first.
std::string printTable(ArrayRef<Placement> placements) {
  SmallVector<Placement> rows(placements);
  llvm::stable_sort(rows, [](const Placement &a, const Placement &b) { return a.bytes > b.bytes; });
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("\n  {0,10}  {1,10}  {2,-24}  {3}", "bytes", "offset", "buffer", "place");
  for (const Placement &row : rows) {
    cta::AllocOp alloc = row.life.alloc;
    cta::BufferType type = alloc.getType();
    std::string shape;
    llvm::raw_string_ostream(shape) << RankedTensorType::get(type.getShape(), type.getElementType());
    if (type.getSlots() != 1)
      shape += llvm::formatv(" x {0}", type.getSlots());
    os << llvm::formatv("\n  {0,10}  {1,10}  {2,-24}  {3}", row.bytes, row.offset, shape, describe(alloc.getLoc()));
  }
  return text;
}

struct CtaAllocateShared : tile::impl::CtaAllocateSharedBase<CtaAllocateShared> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    SmallVector<Placement> placements =
        planPlacement(findBufferLives(kernel), kernel.getNumWarps() * target::threadsPerWarp);
    int64_t total = 0;
    for (const Placement &buffer : placements)
      total = std::max(total, buffer.offset + buffer.bytes);
    SmallVector<cta::MbarrierAllocOp> rings;
    kernel.walk([&](cta::MbarrierAllocOp ring) { rings.push_back(ring); });
    Builder builder(kernel.getContext());
    for (cta::MbarrierAllocOp ring : rings) {
      total = llvm::alignTo(total, cta::MbarrierType::bytesPerSlot);
      ring.setOffsetAttr(builder.getI32IntegerAttr(total));
      total += ring.getType().getBytes();
    }
    if (total > gpu.maxSharedPerCta) {
      kernel.emitError() << "kernel '" << kernel.getSymName() << "' needs " << total
                         << " bytes of shared memory but a CTA has " << gpu.maxSharedPerCta << " on " << gpu.name
                         << "; use smaller blocks or fewer stages than num_stages = " << kernel.getNumStages()
                         << printTable(placements);
      return signalPassFailure();
    }
    for (Placement &buffer : placements)
      buffer.life.alloc.setOffsetAttr(builder.getI32IntegerAttr(buffer.offset));
    kernel.setSharedBytes(total);
  }
};

} // namespace
