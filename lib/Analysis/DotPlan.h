// How a dot is computed on a target: which instruction, and the layouts that it needs.
#pragma once

#include "Cta/CtaDialect.h"
#include "Layout/MmaLayouts.h"
#include "Target/GpuTarget.h"
#include "Target/MmaTable.h"

#include <optional>

namespace tile {

struct DotPlan {
  /// The tensor-core instruction, or null for fused multiply-adds on operands in shared memory.
  const target::MmaInstruction *instruction = nullptr;
  layout::LinearLayout accumulator;
  /// Layouts of the operands in registers; none for an operand in shared memory.
  std::optional<layout::LinearLayout> a, b;
  /// Warp groups multiply straight from shared memory, the left operand perhaps from registers; then there is no
  /// `instruction`.
  std::optional<layout::WgmmaTiling> wgmma;
  /// Operands that have to be stored into shared memory for it.
  bool storesA = false, storesB = false;
};

/// Warp groups (wgmma) where the target has them for these types and sizes; else the widest instruction that multiplies
/// the dot's types exactly as its precision asks, and a grid of warps whose tiles are as square as possible, so that a
/// warp reads the fewest operand bytes for its products. Without `mayStore` warp groups multiply only what is in shared
/// memory, or stays in registers, and so does a dot whose operands have layouts: it keeps what was planned.
DotPlan planDot(DotOp dot, const target::GpuTarget &target, unsigned numWarps, bool mayStore = true);

/// What makes a dot's operand, seen through conversions of its layout, transpositions and leading dimensions of size 1.
struct SharedOperand {
  mlir::Operation *source = nullptr; ///< Null for a block argument.
  bool transposed = false;
};
SharedOperand traceOperand(mlir::Value operand);

/// The block as a matrix, if it has only leading dimensions of size 1 beyond: these are no part of a copy by TMA but
/// coordinates of it.
llvm::ArrayRef<int64_t> dropLeadingOnes(llvm::ArrayRef<int64_t> block);

/// Whether the launcher or the kernel makes a tensor map for the descriptor.
bool hasTensorMap(mlir::Value desc);

/// Whether TMA puts the operand into shared memory, or it is read from there.
bool isBlock(const SharedOperand &operand);

/// Whether a left operand that is no block should go to warp groups from registers: it is computed from other products
/// (the probabilities of attention), or the same in each iteration of the dot's loop. What is loaded for each
/// product would be waited for there; other instructions have it copied ahead.
bool staysInRegisters(DotOp dot);

/// How warp groups multiply, if operands lie in shared memory as they do in global memory, row-major and possibly read
/// transposed; none if the target has no wgmma for these types, this order or these sizes. `swapped`: the product of
/// the transposed operands in the other order (Analysis/SwappedDot.h).
std::optional<layout::WgmmaTiling> planWarpGroups(DotOp dot, bool aTransposed, bool bTransposed,
                                                  const target::GpuTarget &target, unsigned numWarps,
                                                  bool swapped = false);

/// Element type of an `mma.sync` operand, if there is one; f32 counts as tf32.
std::optional<target::MmaType> getMmaType(mlir::Type element);
/// As what a product of the tensor cores accumulates it; none if nothing does.
std::optional<target::MmaType> getAccumulatorType(mlir::Type element);

} // namespace tile
