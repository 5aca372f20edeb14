// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of this folder share: the type conversion, and how a family of operations, one a file, takes part.
#pragma once

#include "Words.h"

#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"

#include "mlir/Transforms/DialectConversion.h"

#include <functional>

namespace tile::conversion {

/// A tensor with a layout becomes its registers, in order; a pointer or buffer an address; an 8-bit float its bits.
class RegisterTypeConverter : public mlir::TypeConverter {
public:
  explicit RegisterTypeConverter(mlir::MLIRContext *context);
};

/// The registers that replace a result.
using Registers = llvm::SmallVector<mlir::Value>;

/// Base of patterns that ask what the target can do.
template <typename OpType> struct TargetPattern : mlir::OpConversionPattern<OpType> {
  TargetPattern(const mlir::TypeConverter &converter, mlir::MLIRContext *context, const target::GpuTarget &gpu,
                mlir::PatternBenefit benefit = 1)
      : mlir::OpConversionPattern<OpType>(converter, context, benefit), gpu(gpu) {}

  const target::GpuTarget &gpu;
};

/// Name of the external symbol at which the shared memory of a CTA starts.
inline constexpr llvm::StringLiteral sharedSymbol = "tile_shared";
/// Alignment in bytes that buffers must have: the widest shared-memory access.
inline constexpr unsigned bufferAlignment = 16;

/// What the families of operations contribute: patterns, and checks of what verifiers cannot see, which report an error
/// on what the patterns cannot lower for this target.
class Lowerings {
public:
  Lowerings(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns, const target::GpuTarget &gpu,
            bool multiplies)
      : converter(converter), patterns(patterns), gpu(gpu), context(patterns.getContext()), multiplies(multiplies) {}

  const mlir::TypeConverter &converter;
  mlir::RewritePatternSet &patterns;
  const target::GpuTarget &gpu;
  mlir::MLIRContext *context;
  const bool multiplies; ///< On tensor cores, whose products decide how many registers there are.

  /// `function(op, gpu)` is called for every operation of these types.
  template <typename... Ops, typename Function> void check(Function function) {
    auto add = [&]<typename Op>() {
      checks[mlir::TypeID::get<Op>()] = [function](mlir::Operation *op, const target::GpuTarget &gpu) {
        return function(llvm::cast<Op>(op), gpu);
      };
    };
    (add.template operator()<Ops>(), ...);
  }
  using Check = std::function<mlir::LogicalResult(mlir::Operation *, const target::GpuTarget &)>;
  /// For every operation.
  void checkEach(Check function) { commonChecks.push_back(std::move(function)); }

  mlir::LogicalResult runChecks(mlir::Operation *op) const;

private:
  llvm::DenseMap<mlir::TypeID, Check> checks;
  llvm::SmallVector<Check> commonChecks;
};

#define FAMILY(name) void register##name##Lowerings(Lowerings &lowerings);
#include "Families.def"

// What several families check.
mlir::LogicalResult checkKernel(KernelOp kernel);
mlir::LogicalResult checkWholeTile(mlir::Operation *op, cta::BufferType buffer);
mlir::LogicalResult checkRowMajor(mlir::Operation *op, cta::BufferType buffer);

/// An i1 argument of a kernel is passed as i8 (the launch ABI).
void widenBoolArguments(KernelOp kernel);
/// Does without warps that only repeat what others do and write, and leaves the numbers of a row to the first one.
void leaveIdleWarps(KernelOp kernel);
/// Initialises all barriers, and lets the threads of the CTA or cluster meet, before they are used.
void emitBarriersReady(KernelOp kernel);
/// Turns roles, of which all that is inside has been converted, into branches on the number of the warp.
void lowerWarpRoles(mlir::ModuleOp module);

/// Which named barrier (PTX ISA, "bar") is whose: 0 the CTA's, 1 the first role's, and then one for each warp group by
/// itself, one for each group's turn, and from the end one for each other role.
struct NamedBarriers {
  static constexpr unsigned count = 16, firstOfGroups = 2;
  static unsigned ofRole(const cta::Role &role);
  /// Of the turns of the role's warp groups.
  static unsigned firstOfTurns(mlir::Operation *turn, unsigned groups);
};
/// Declares `sharedSymbol`.
void declareSharedMemory(mlir::ModuleOp module);

/// Whether the operation converts a float to an integer register, which only FloatToInteger.cpp lowers.
bool isFloatToRegister(mlir::Operation *op);
/// Whether a scalar operation of the math or arith dialect reaches PTX through upstream's lowerings.
bool isSelectable(mlir::Operation *op, const target::GpuTarget &gpu);

} // namespace tile::conversion
