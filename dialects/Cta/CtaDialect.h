// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cta dialect for C++: dialect, layout and engine attributes, types and operations.
#pragma once

#include "Layout/LinearLayout.h"
#include "Target/Engines/Wgmma.h"
#include "Target/GpuTarget.h"
#include "Tile/TileDialect.h"

#include "mlir/IR/TensorEncoding.h"
#include "llvm/ADT/Hashing.h"

namespace tile::layout {
/// Returns the hash of a layout. MLIR finds this function by argument-dependent lookup when it uniques attributes.
inline llvm::hash_code hash_value(const LinearLayout &layout) {
  return llvm::hash_code(layout.hash());
}
} // namespace tile::layout

namespace tile {
/// Returns the tensor-core type of an operand's element type, if tensor cores support it; f32 is treated as tf32.
std::optional<target::MmaType> getMmaType(mlir::Type element);
/// Returns the tensor-core type of an accumulator, or nullopt if no tensor-core instruction accumulates in this type.
std::optional<target::MmaType> getAccumulatorType(mlir::Type element);
} // namespace tile

#include "Cta/CtaDialect.h.inc"

#include "Cta/BufferEngine.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Cta/CtaAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Cta/CtaTypes.h.inc"

namespace tile::cta {

/// Shared memory, as the resource on which buffer operations have effects. A barrier must separate conflicting accesses
/// by different threads.
struct SharedMemory : mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "cta.shared_memory"; }
};
/// Shared memory that is accessed by copies which continue after the operation that starts them, until a wait.
struct CopiedMemory : mlir::SideEffects::Resource::Base<CopiedMemory> {
  llvm::StringRef getName() final { return "cta.copied_memory"; }
};
/// Shared memory whose accesses are ordered by an mbarrier, or by the operation itself.
struct SignalledMemory : mlir::SideEffects::Resource::Base<SignalledMemory> {
  llvm::StringRef getName() final { return "cta.signalled_memory"; }
};

/// Tensor memory, whose accesses are ordered by waits for MMAs, by fences and by barriers.
struct TensorMemory : mlir::SideEffects::Resource::Base<TensorMemory> {
  llvm::StringRef getName() final { return "cta.tensor_memory"; }
};

/// Fails if the operation takes a buffer without declaring an effect on it, because analyses would then miss the
/// access. Operations that return views of buffers need no effect.
mlir::LogicalResult verifyAccesses(mlir::Operation *op);

/// Trait of all operations of the dialect; see verifyAccesses.
template <typename ConcreteType>
class DeclaresAccesses : public mlir::OpTrait::TraitBase<ConcreteType, DeclaresAccesses> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyAccesses(op); }
};

/// A slice of a tensor along dimension `dim`: the elements `first`, `first` + 1, …; the type of the slice determines
/// their number. If `dim` is nullopt, the slice is the whole tensor.
struct TensorPart {
  std::optional<unsigned> dim;
  int64_t first = 0;
};

/// The size of a tensor map, and its alignment in global and shared memory (PTX ISA, "Tensor-map").
constexpr int64_t tensorMapBytes = 128;

/// Returns the GPU for which the enclosing module is compiled: its `cta.target`, or sm_90a.
const target::GpuTarget &getTarget(mlir::Operation *op);
/// Returns the target that is attached to the module, or null.
const target::GpuTarget *findStatedTarget(mlir::ModuleOp module);
void setTarget(mlir::ModuleOp module, const target::GpuTarget &gpu);

/// Returns the layout of a tensor type, or null if it has none.
LayoutAttr getLayoutAttr(mlir::Type type);
/// Returns the layout of a tensor type that must have one.
const layout::LinearLayout &getLayout(mlir::Type type);
/// Returns `type` with `layout` as its encoding.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, LayoutAttr layout);

/// Maps each register of a result with this layout to the operand coordinates from which its element comes. The
/// returned layout has the operand's shape, but several registers of a thread may hold the same element.
layout::LinearLayout getSourceCoordinates(ShapeChange op, const layout::LinearLayout &result);

/// Returns the registers of the tensor in ascending order; if `columns` is given, only those that hold elements of the
/// first `columns` columns.
std::vector<int32_t> registersInColumns(mlir::RankedTensorType type, std::optional<uint32_t> columns);

/// A role of a cta.warp_roles.
class Role {
public:
  Role(RoleAttr attr, mlir::Region &body, unsigned firstWarp) : attr(attr), body(&body), firstWarp(firstWarp) {}

  RoleAttr getAttr() const { return attr; }
  mlir::Region &getBody() const { return *body; }
  /// Returns the index, within the CTA, of the role's first warp.
  unsigned getFirstWarp() const { return firstWarp; }
  /// Return true if the role acquires slots of the ring to fill them (`fills`), or waits for slots to read them
  /// (`reads`).
  bool fills(mlir::Value ring) const;
  bool reads(mlir::Value ring) const;

private:
  RoleAttr attr;
  mlir::Region *body;
  unsigned firstWarp;
};

class WarpRolesOp;
/// Returns the role that contains the operation; nullopt outside of roles.
std::optional<Role> findRole(mlir::Operation *op);
/// Returns the kernel's warp_roles operation, or null if there is none.
WarpRolesOp findRoles(KernelOp kernel);
/// Returns the number of warps of a CTA, summed over all roles.
unsigned countWarps(KernelOp kernel);

/// Returns true if the operation is a turn operation of teams rather than of warp groups.
bool isTurnOfTeams(mlir::Operation *op);

/// Returns the type of the value that selects a slot of a ring, or one of several mbarriers.
mlir::Type getSlotType(mlir::Type ringOrBarrier);

// Helpers shared by the verifiers of several families.

/// The maximum number of slots of a ring, a buffer or mbarriers, which is more than fit into any shared memory.
constexpr int64_t maxSlots = 1 << 20;
/// The maximum number of pending arrivals (PTX ISA, "mbarrier object").
constexpr int64_t maxArrivals = (1 << 20) - 1;
/// Fails unless `ctas` is a valid cluster size greater than 1.
mlir::LogicalResult verifyCtas(mlir::Operation *op, int64_t ctas);

/// Returns true if TMA can reduce elements of this type into memory (PTX ISA, "cp.reduce.async.bulk.tensor"). Kinds
/// that depend on the signedness of integers, and 64-bit additions, are not supported, because tensor maps would have
/// to encode the signedness.
bool canReduceByTma(AtomicKind kind, mlir::Type element);
/// Fails unless the buffer has the shape of a block of the descriptor or, if `mayBePart`, of a part of a block.
mlir::LogicalResult verifyBlock(mlir::Operation *op, DescType desc, mlir::ValueRange offsets, BufferType buffer,
                                bool mayBePart);
/// Fails unless the tensor, or its first `columns` columns, can be stored as a partial accumulator, in 32-bit
/// registers.
mlir::LogicalResult verifyPartial(mlir::Operation *op, mlir::RankedTensorType value,
                                  std::optional<uint32_t> columns = std::nullopt);

} // namespace tile::cta

#include "Cta/LayoutInterface.h.inc"

#define GET_OP_CLASSES
#include "Cta/CtaOps.h.inc"
