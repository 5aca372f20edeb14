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
/// Found by argument-dependent lookup when attributes are uniqued.
inline llvm::hash_code hash_value(const LinearLayout &layout) {
  return llvm::hash_code(layout.hash());
}
} // namespace tile::layout

namespace tile {
/// Element type of an operand of the tensor cores, if they multiply it; f32 counts as tf32.
std::optional<target::MmaType> getMmaType(mlir::Type element);
/// As what a product of the tensor cores accumulates it; none if nothing does.
std::optional<target::MmaType> getAccumulatorType(mlir::Type element);
} // namespace tile

#include "Cta/CtaDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Cta/CtaAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Cta/CtaTypes.h.inc"

namespace tile::cta {

/// Shared memory, as the resource that buffer operations affect. Threads access it and need barriers in between.
struct SharedMemory : mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "cta.shared_memory"; }
};
/// What copies access that go on after the operation, until a wait.
struct CopiedMemory : mlir::SideEffects::Resource::Base<CopiedMemory> {
  llvm::StringRef getName() final { return "cta.copied_memory"; }
};
/// What is accessed in an order for which an mbarrier cares, or the operation itself.
struct SignalledMemory : mlir::SideEffects::Resource::Base<SignalledMemory> {
  llvm::StringRef getName() final { return "cta.signalled_memory"; }
};

/// Fails if the operation takes a buffer without an effect on it, so that no analysis would see the access; views of
/// buffers have none.
mlir::LogicalResult verifyAccesses(mlir::Operation *op);

/// Of all operations of the dialect.
template <typename ConcreteType>
class DeclaresAccesses : public mlir::OpTrait::TraitBase<ConcreteType, DeclaresAccesses> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyAccesses(op); }
};

/// Elements first, first + 1, … along one dimension of a tensor, as many as the tensor has that stands for them;
/// without a dimension, all of it.
struct TensorPart {
  std::optional<unsigned> dim;
  int64_t first = 0;
};

/// PTX ISA, "Tensor-map": the size of the object, and its alignment in global and shared memory.
constexpr int64_t tensorMapBytes = 128;

/// The GPU that the module around the operation is for: its `cta.target`, or sm_90a.
const target::GpuTarget &getTarget(mlir::Operation *op);
/// What the module itself says, or null.
const target::GpuTarget *findStatedTarget(mlir::ModuleOp module);
void setTarget(mlir::ModuleOp module, const target::GpuTarget &gpu);

/// The layout of a tensor type, or null if it has none.
LayoutAttr getLayoutAttr(mlir::Type type);
/// The layout of a tensor type that has one.
const layout::LinearLayout &getLayout(mlir::Type type);
/// `type` with `layout` as its encoding.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, LayoutAttr layout);

/// Where in the operand each register of a result with this layout comes from: a layout of the operand's shape, but
/// several registers of a thread may have one element.
layout::LinearLayout getSourceCoordinates(ShapeChange op, const layout::LinearLayout &result);

/// The registers of the tensor, ascending; only those that hold a part of the first `columns` columns, if given.
std::vector<int32_t> registersInColumns(mlir::RankedTensorType type, std::optional<uint32_t> columns);

/// One role of a cta.warp_roles.
class Role {
public:
  Role(RoleAttr attr, mlir::Region &body, unsigned firstWarp) : attr(attr), body(&body), firstWarp(firstWarp) {}

  RoleAttr getAttr() const { return attr; }
  mlir::Region &getBody() const { return *body; }
  /// Of the CTA.
  unsigned getFirstWarp() const { return firstWarp; }
  /// Whether it takes slots of the ring to fill them, or to read them.
  bool fills(mlir::Value ring) const;
  bool reads(mlir::Value ring) const;

private:
  RoleAttr attr;
  mlir::Region *body;
  unsigned firstWarp;
};

class WarpRolesOp;
/// The role in which the operation stands; none outside of roles.
std::optional<Role> findRole(mlir::Operation *op);
/// The kernel's roles, or null if it has none.
WarpRolesOp findRoles(KernelOp kernel);
/// Of a CTA: those of all roles.
unsigned countWarps(KernelOp kernel);

/// Whether the operation is about turns of teams, not of warp groups.
bool isTurnOfTeams(mlir::Operation *op);

/// What says which slot of a ring, or which of several mbarriers.
mlir::Type getSlotType(mlir::Type ringOrBarrier);

// What verifiers of several families share.

/// Of a ring, a buffer or mbarriers: more than any shared memory holds.
constexpr int64_t maxSlots = 1 << 20;
/// PTX ISA, "mbarrier object": pending arrivals.
constexpr int64_t mostArrivals = (1 << 20) - 1;
/// As many CTAs can form a cluster, of more than one.
mlir::LogicalResult verifyCtas(mlir::Operation *op, int64_t ctas);

/// Whether TMA combines such elements with those in memory (PTX ISA, "cp.reduce.async.bulk.tensor"). Whether integers
/// are unsigned, and how 64-bit ones are added, would be the tensor map's to say: not those.
bool canReduceByTma(AtomicKind kind, mlir::Type element);
/// The buffer is the block of a descriptor with these offsets, or a part of it.
mlir::LogicalResult verifyBlock(mlir::Operation *op, DescType desc, mlir::ValueRange offsets, BufferType buffer,
                                bool mayBePart);
/// The tensor, or its first `columns` columns, can be a partial sum: it is moved as 32-bit registers.
mlir::LogicalResult verifyPartial(mlir::Operation *op, mlir::RankedTensorType value,
                                  std::optional<uint32_t> columns = std::nullopt);

} // namespace tile::cta

#include "Cta/LayoutInterface.h.inc"

#define GET_OP_CLASSES
#include "Cta/CtaOps.h.inc"
