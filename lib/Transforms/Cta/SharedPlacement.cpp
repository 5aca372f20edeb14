// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transforms/Cta/SharedPlacement.h"

#include "Layout/SharedLayouts.h"
#include "Target/GpuTarget.h"
#include "Target/Tuned.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

namespace {

int64_t getAlignment(cta::BufferType type) {
  std::optional<layout::SwizzleForm> form =
      layout::matchSwizzle(type.getLayout().getLayout(), getBytesInMemory(type.getElementType()));
  int64_t pattern = form ? 8 * int64_t(form->swizzleBytes) : 0;
  return type.getBytesPerSlot() >= pattern ? std::max<int64_t>(pattern, 128) : 128;
}

/// Returns the lowest offset at which `buffer` overlaps no buffer of `placed` with an intersecting lifetime or, without
/// `share`, no buffer of `placed` at all.
int64_t findOffset(const Placement &buffer, ArrayRef<Placement> placed, bool share) {
  int64_t alignment = getAlignment(buffer.life.getType());
  int64_t offset = 0;
  // `placed` is sorted by offset, so one pass visits the obstacles from below.
  for (const Placement &other : placed)
    if ((!share || other.life.overlaps(buffer.life)) && other.offset < offset + buffer.bytes &&
        offset < other.offset + other.bytes)
      offset = llvm::alignTo(other.offset + other.bytes, alignment);
  return offset;
}

/// Places the buffers, in the given order.
SmallVector<Placement> placeInOrder(ArrayRef<Placement> order, bool share) {
  SmallVector<Placement> placed;
  for (Placement buffer : order) {
    buffer.offset = findOffset(buffer, placed, share);
    placed.insert(llvm::upper_bound(placed, buffer.offset,
                                    [](int64_t offset, const Placement &other) { return offset < other.offset; }),
                  buffer);
  }
  return placed;
}

int64_t getEnd(ArrayRef<Placement> placed) {
  int64_t end = 0;
  for (const Placement &buffer : placed)
    end = std::max(end, buffer.getEnd());
  return end;
}

/// Computes offsets for all buffers. Buffers share memory if they have more than `unshared` bytes in total.
SmallVector<Placement> planPlacement(ArrayRef<BufferLife> lives, int64_t unshared, int64_t capacity) {
  SmallVector<Placement> order;
  int64_t sum = 0;
  for (const BufferLife &life : lives) {
    order.push_back({life, life.getType().getBytes()});
    sum += llvm::alignTo(order.back().bytes, getAlignment(life.getType()));
  }
  bool share = sum > unshared;
  llvm::stable_sort(order, [](const Placement &a, const Placement &b) { return a.bytes > b.bytes; });
  SmallVector<Placement> placed = placeInOrder(order, share);
  if (getEnd(placed) <= capacity)
    return placed;
  llvm::stable_sort(order, [](const Placement &a, const Placement &b) { return a.life.first < b.life.first; });
  SmallVector<Placement> inTime = placeInOrder(order, share);
  return getEnd(inTime) < getEnd(placed) ? inTime : placed;
}

} // namespace

SharedPlacement tile::placeBuffers(KernelOp kernel, int64_t capacity) {
  SharedPlacement result;
  int64_t ofRings = 0;
  kernel.walk([&](cta::MbarrierAllocOp ring) {
    result.rings.push_back({ring, 0});
    ofRings += ring.getType().getBytes();
  });
  const int64_t unshared =
      target::tunedOf(cta::getTarget(kernel)).unsharedBytesOfThread * kernel.getNumWarps() * target::threadsPerWarp;
  result.buffers = planPlacement(findBufferLives(kernel), unshared, capacity - ofRings);
  result.bytes = getEnd(result.buffers);
  for (auto &[ring, offset] : result.rings) {
    offset = llvm::alignTo(result.bytes, cta::MbarrierType::bytesPerSlot);
    result.bytes = offset + ring.getType().getBytes();
  }
  return result;
}
