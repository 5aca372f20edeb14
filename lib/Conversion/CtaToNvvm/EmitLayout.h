// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers layouts to index arithmetic: the only place that computes coordinates and addresses.
//
// A layout is linear over GF(2), so the offset of (register r, thread t) is registers(r) XOR threads(t). `threads(t)`
// is emitted once: bits of the thread index that move by the same distance share one `and` and one shift.
// `registers(r)` is a constant. Only the bits that threads(t) may also set have to be XORed in, once per distinct
// value. The other bits are added last, and become the immediate offset of a load or store:
//
//   threads(t) in 0b0111_1000_0000,  registers = [8, 16, 128]      offset(r)
//   base = (t & 15) << 7                                           r = 0..3:  base + {0, 8, 16, 24}
//   swizzled = base ^ 128                                          r = 4..7:  swizzled + {0, 8, 16, 24}
#pragma once

#include "Layout/LinearLayout.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace tile::conversion {

/// Maps (register, thread) to an integer. Thread bit i is bit i of tid.x: the lane bits come first, then the warp bits.
struct ThreadMap {
  std::vector<uint64_t> registers, threads;

  /// Returns the map to the row-major index of the element in `layout`, times `scale` (a power of two).
  static ThreadMap flat(const layout::LinearLayout &layout, uint64_t scale = 1);
  /// Returns the map to the coordinate along `axis`.
  static ThreadMap coordinate(const layout::LinearLayout &layout, unsigned axis);

  uint64_t ofRegister(uint64_t index) const;
};

/// Returns tid.x as i32.
mlir::Value emitThreadId(mlir::OpBuilder &builder, mlir::Location loc);

mlir::Value emitI32(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);

/// Returns `base` plus a constant number of bytes.
mlir::Value emitByteOffset(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value base, int64_t bytes);

/// Returns the XOR of bases[i] over all bits i that are set in `input`, an i32; null if all bases are 0.
mlir::Value emitLinearMap(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                          const std::vector<uint64_t> &bases);

/// Emits the values of one ThreadMap; parts that several registers share are emitted once.
class OffsetEmitter {
public:
  OffsetEmitter(mlir::OpBuilder &builder, mlir::Location loc, ThreadMap map);

  /// XORs `value` into all values that are emitted later. `value` is an i32 in which only bits of `mask` can be set.
  void moveBy(mlir::Value value, uint64_t mask);

  /// Returns (`constant` XOR threads(tid)) + `start` as i32. `constant` is map.ofRegister(r), into which the caller may
  /// have XORed further bits.
  mlir::Value index(uint64_t constant, int64_t start = 0);
  /// Returns `base` plus (`constant` XOR threads(tid)) bytes.
  mlir::Value address(mlir::Value base, uint64_t constant);

  mlir::Value indexOfRegister(uint64_t r, int64_t start = 0) { return index(map.ofRegister(r), start); }
  mlir::Value addressOfRegister(mlir::Value base, uint64_t r) { return address(base, map.ofRegister(r)); }

private:
  /// Returns threads(tid) XOR `bits`; null if that is always 0. `bits` must be a subset of the bits that threads(tid)
  /// can set.
  mlir::Value dynamicPart(uint64_t bits);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  ThreadMap map;
  uint64_t threadMask = 0; // bits that some thread, or `moved`, sets
  mlir::Value moved;
  llvm::DenseMap<uint64_t, mlir::Value> dynamicParts;
  llvm::DenseMap<std::pair<mlir::Value, uint64_t>, mlir::Value> bases;
};

/// Returns, for each register, the lowest register in which the thread holds the same element.
std::vector<int32_t> canonicalRegisters(const layout::LinearLayout &layout);

/// Returns the bits of tid.x that only replicate elements: for every element, some thread that holds it has all of
/// these bits 0.
uint64_t redundantThreadBits(const layout::LinearLayout &layout);

/// Returns an i1 that is true if all of these bits of tid.x are 0.
mlir::Value emitBitsAreZero(mlir::OpBuilder &builder, mlir::Location loc, uint64_t bits);

/// Returns an i1 that is true if this thread holds the first copy of its elements; null if this is true in every
/// thread.
mlir::Value emitIsFirstCopy(mlir::OpBuilder &builder, mlir::Location loc, const layout::LinearLayout &layout);

/// Returns the index of this thread's warp as an i32. The index is read from lane 0, so ptxas can infer that it is
/// uniform in the warp.
mlir::Value emitUniformWarpId(mlir::OpBuilder &builder, mlir::Location loc);

/// Returns an i1 that is true in thread 0.
mlir::Value emitIsFirstThread(mlir::OpBuilder &builder, mlir::Location loc);

/// Returns an i1 that is true in the first of the threads that execute `op` together (the threads of its role, its team
/// or the CTA); null if only one thread executes `op`.
mlir::Value emitIsFirstOfRole(mlir::OpBuilder &builder, mlir::Operation *op);

/// Returns the index of this thread's warp group within the role of `op`, or within the CTA, as an i32 that is uniform
/// in the warp.
mlir::Value emitGroupInRole(mlir::OpBuilder &builder, mlir::Operation *op);

/// Returns, for each register of `dst`, the register of `src` that holds the same element; nullopt if some thread does
/// not hold all elements that it needs in `src`.
std::optional<std::vector<int32_t>> registerSources(const layout::LinearLayout &src, const layout::LinearLayout &dst);

} // namespace tile::conversion
