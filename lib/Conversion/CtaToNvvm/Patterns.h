// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the files of this folder: the type conversion, and how families of operations, one per file, are
// registered.
#pragma once

#include "Words.h"

#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"

#include "mlir/Transforms/DialectConversion.h"

#include <functional>

namespace tile::conversion {

/// Converts a tensor with a layout to its registers, in order; a pointer or a buffer to an address; and an 8-bit float
/// to an integer with the same bits.
class RegisterTypeConverter : public mlir::TypeConverter {
public:
  explicit RegisterTypeConverter(mlir::MLIRContext *context);
};

/// The registers that replace a result of an operation.
using Registers = llvm::SmallVector<mlir::Value>;

/// Base of patterns that depend on the target.
template <typename OpType> struct TargetPattern : mlir::OpConversionPattern<OpType> {
  TargetPattern(const mlir::TypeConverter &converter, mlir::MLIRContext *context, const target::GpuTarget &gpu,
                mlir::PatternBenefit benefit = 1)
      : mlir::OpConversionPattern<OpType>(converter, context, benefit), gpu(gpu) {}

  const target::GpuTarget &gpu;
};

/// Name of the external symbol at which the shared memory of a CTA starts.
inline constexpr llvm::StringLiteral sharedSymbol = "tile_shared";
/// Required alignment of buffers in bytes: the widest shared-memory access.
inline constexpr unsigned bufferAlignment = 16;

/// Collects the contributions of the families of operations: patterns, and checks of properties that verifiers cannot
/// see. A check reports an error for operations that the patterns cannot lower for this target.
class Lowerings {
public:
  Lowerings(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns, const target::GpuTarget &gpu,
            bool multiplies)
      : converter(converter), patterns(patterns), gpu(gpu), context(patterns.getContext()), multiplies(multiplies) {}

  const mlir::TypeConverter &converter;
  mlir::RewritePatternSet &patterns;
  const target::GpuTarget &gpu;
  mlir::MLIRContext *context;
  const bool multiplies; ///< The kernel uses tensor cores, so its accumulators dominate the register count.

  /// Calls `function(op, gpu)` for every operation of these types.
  template <typename... Ops, typename Function> void check(Function function) {
    auto add = [&]<typename Op>() {
      checks[mlir::TypeID::get<Op>()] = [function](mlir::Operation *op, const target::GpuTarget &gpu) {
        return function(llvm::cast<Op>(op), gpu);
      };
    };
    (add.template operator()<Ops>(), ...);
  }
  using Check = std::function<mlir::LogicalResult(mlir::Operation *, const target::GpuTarget &)>;
  /// Calls `function` for every operation.
  void checkEach(Check function) { commonChecks.push_back(std::move(function)); }

  mlir::LogicalResult runChecks(mlir::Operation *op) const;

private:
  llvm::DenseMap<mlir::TypeID, Check> checks;
  llvm::SmallVector<Check> commonChecks;
};

#define FAMILY(name) void register##name##Lowerings(Lowerings &lowerings);
#include "Families.def"

// Verification functions that several families of patterns use.
mlir::LogicalResult checkKernel(KernelOp kernel);
mlir::LogicalResult checkWholeTile(mlir::Operation *op, cta::BufferType buffer);
mlir::LogicalResult checkRowMajor(mlir::Operation *op, cta::BufferType buffer);

/// Passes i1 arguments of a kernel as i8 (the launch ABI).
void widenBoolArguments(KernelOp kernel);
/// Removes warps that only repeat the work and the writes of other warps. In the remaining kernels, lets only the first
/// warp execute scalar work.
void leaveIdleWarps(KernelOp kernel);
/// Initializes all barriers and synchronizes the threads of the CTA or cluster, so that they may use the barriers.
void emitBarriersReady(KernelOp kernel);
/// Lowers roles, whose contents have already been converted, to branches on the warp index.
void lowerWarpRoles(mlir::ModuleOp module);

/// Assigns the numbers of named barriers (PTX ISA, "bar"): 0 is for the CTA, and 1 is for the first role. The next
/// numbers are for individual warp groups, one for each; the next ones are for groups that take turns, one for each.
/// All other roles get numbers from the highest one down.
struct NamedBarriers {
  static constexpr unsigned count = 16, firstOfGroups = 2;
  static unsigned ofRole(const cta::Role &role);
  /// Returns the number of the first barrier with which the warp groups of the role take turns.
  static unsigned firstTurnBarrier(mlir::Operation *turn, unsigned groups);
};
/// Declares `sharedSymbol`.
void declareSharedMemory(mlir::ModuleOp module);

/// Returns true if the operation converts a float to an integer register; only FloatToInteger.cpp lowers such
/// operations.
bool isFloatToRegister(mlir::Operation *op);
/// Returns true if a scalar operation of the math or arith dialect reaches PTX through upstream's lowerings.
bool isSelectable(mlir::Operation *op, const target::GpuTarget &gpu);

} // namespace tile::conversion
