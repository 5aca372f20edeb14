// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Translates a kernel to instructions: the walk over blocks, the allocation of values, and the table of handlers.
//
// Each op family registers handlers by op name (`register…Ops`). A handler asks for the slots of its operands, defines
// its results and emits instructions. Slots are reused after the last user in the defining block has been translated.
// Results are allocated before operands are released, so a result never overlaps an operand.
#pragma once

#include "Interpreter/Machine.h"

#include "llvm/ADT/StringMap.h"
#include <functional>
#include <map>

namespace tile::interp {

class Compiler;
/// Emits the instructions of an operation. Returns false after Compiler::fail.
using Handler = std::function<bool(Compiler &, mlir::Operation *)>;
using HandlerTable = llvm::StringMap<Handler>;

/// Allocates slots in the frame: best fit over the free ranges; adjacent free ranges are merged.
class FrameAllocator {
public:
  size_t allocate(size_t bytes);
  /// Allocates memory that is never reused, for values that live through all programs.
  size_t allocateFresh(size_t bytes);
  void release(size_t offset, size_t bytes);
  size_t size() const { return end; }

private:
  std::map<size_t, size_t> freeRanges; // offset to size in bytes
  size_t end = 0;
};

class Compiler {
public:
  explicit Compiler(bool keepValues) : keepValues(keepValues) {}

  /// Fills `program`. Returns an error if the kernel cannot be compiled.
  std::optional<Error> compile(KernelOp kernel, ProgramImpl &program);

  Slot slotOf(mlir::Value value) const { return slots.at(value); }
  /// Allocates a result or block argument, which is live until its last use in its block.
  Slot define(mlir::Value value);
  /// Makes `value` share the slot of another value (no copy). The owner must outlive it.
  void alias(mlir::Value value, Slot slot) { slots[value] = slot; }
  /// Allocates a constant; the pattern is one element, which is repeated, or all elements.
  void defineConstant(mlir::Value value, std::vector<char> pattern);
  /// Allocates a temporary slot until release().
  Slot scratch(Kind kind, int64_t count);
  void release(Slot slot);

  /// Appends an instruction with the slots of the operands and results, and the size of the first result (of the first
  /// operand if there is no result).
  Instruction &emit(mlir::Operation *op, Execute execute);
  Instruction &emit(mlir::Operation *op, Execute execute, llvm::ArrayRef<size_t> in, llvm::ArrayRef<size_t> out,
                    Slot shape);
  void emitCopy(mlir::Operation *op, Slot from, Slot to);
  /// Translates the operations of a block, up to its terminator, into `result`. Then calls `finish` to translate the
  /// terminator while the block's values are still allocated.
  bool compileBlock(mlir::Block &block, Block &result, llvm::function_ref<bool(mlir::Operation *)> finish);

  bool fail(mlir::Operation *op, const llvm::Twine &message);
  /// Returns the kind of the elements of a value of this type; nullopt if values cannot have it.
  std::optional<Kind> kindOf(mlir::Type type) const;

  /// Set while a combine region is translated for execution on vectors: the maximum number of elements that each scalar
  /// of the region represents. The region's instructions have the count kLanes. nullopt elsewhere.
  std::optional<int64_t> vectorLanes;

private:
  bool compileArguments(KernelOp kernel);
  bool compileOperation(mlir::Operation *op);
  bool checkTypes(mlir::Operation *op);
  void releaseDead(mlir::Operation *op);
  Slot shapeOf(mlir::Value value) const;

  const bool keepValues; ///< slots are not reused, and every operation has an instruction, so that a debugger can show
                         ///< all values
  ProgramImpl *program = nullptr;
  Block *current = nullptr;
  FrameAllocator frame;
  llvm::DenseMap<mlir::Value, Slot> slots;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Slot, 4>> lastUses; // slots that are released after an operation
  std::map<std::tuple<Kind, int64_t, std::vector<char>>, Slot> constantSlots;
  std::optional<Error> error;
};

/// Rounds values stored as floats to the number format `kind` (no-op for F32).
void roundInPlace(Kind kind, float *values, int64_t count);
/// Returns the instruction that converts between floats, rounding to nearest or towards zero. Conversions to 8 bits
/// saturate.
Execute floatCastKernel(Kind from, Kind to, bool towardZero);

void registerIntegerOps(HandlerTable &);
void registerFloatOps(HandlerTable &);
void registerLibraryOps(HandlerTable &);
void registerCompareOps(HandlerTable &);
void registerCastOps(HandlerTable &);
void registerShapeOps(HandlerTable &);
void registerMemoryOps(HandlerTable &);
void registerAtomicOps(HandlerTable &);
void registerDescriptorOps(HandlerTable &);
void registerDotOps(HandlerTable &);
void registerReduceOps(HandlerTable &);
void registerControlOps(HandlerTable &);
void registerProgramOps(HandlerTable &);
void registerElementOps(HandlerTable &);

} // namespace tile::interp
