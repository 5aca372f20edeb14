// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks over a kernel, translates operations to instructions and allocates values in the frame.
#include "Interpreter/Compiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::interp {

/// Values are aligned to cache lines, so that vector code never straddles two values.
static constexpr size_t kAlignment = 64;

static size_t roundUp(size_t bytes) {
  return (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
}

size_t FrameAllocator::allocate(size_t bytes) {
  bytes = roundUp(bytes);
  auto best = freeRanges.end();
  for (auto range = freeRanges.begin(); range != freeRanges.end(); ++range)
    if (range->second >= bytes && (best == freeRanges.end() || range->second < best->second))
      best = range;
  if (best == freeRanges.end())
    return allocateFresh(bytes);
  size_t offset = best->first, remaining = best->second - bytes;
  freeRanges.erase(best);
  if (remaining)
    freeRanges[offset + bytes] = remaining;
  return offset;
}

size_t FrameAllocator::allocateFresh(size_t bytes) {
  size_t offset = end;
  end += roundUp(bytes);
  return offset;
}

void FrameAllocator::release(size_t offset, size_t bytes) {
  auto range = freeRanges.emplace(offset, roundUp(bytes)).first;
  auto next = std::next(range);
  if (next != freeRanges.end() && range->first + range->second == next->first) {
    range->second += next->second;
    freeRanges.erase(next);
  }
  if (range == freeRanges.begin())
    return;
  auto previous = std::prev(range);
  if (previous->first + previous->second == range->first) {
    previous->second += range->second;
    freeRanges.erase(range);
  }
}

static HandlerTable buildHandlers() {
  HandlerTable table;
  registerIntegerOps(table);
  registerFloatOps(table);
  registerLibraryOps(table);
  registerCompareOps(table);
  registerCastOps(table);
  registerShapeOps(table);
  registerMemoryOps(table);
  registerAtomicOps(table);
  registerDescriptorOps(table);
  registerDotOps(table);
  registerReduceOps(table);
  registerControlOps(table);
  registerProgramOps(table);
  registerElementOps(table);
  return table;
}

static const HandlerTable &handlers() {
  static const HandlerTable table = buildHandlers();
  return table;
}

std::optional<Kind> Compiler::kindOf(Type type) const {
  Type element = getElementTypeOf(type);
  if (isa<PtrType>(element))
    return Kind::Pointer;
  if (isa<DescType>(element))
    return Kind::Descriptor;
  if (isa<IndexType>(element))
    return Kind::I64;
  if (isa<Float8E4M3FNType>(element))
    return Kind::F8E4M3;
  if (isa<Float8E5M2Type>(element))
    return Kind::F8E5M2;
  if (element.isF16())
    return Kind::F16;
  if (element.isBF16())
    return Kind::BF16;
  if (element.isF32())
    return Kind::F32;
  if (element.isF64())
    return Kind::F64;
  if (!element.isSignlessInteger())
    return std::nullopt;
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return Kind::I1;
  case 8:
    return Kind::I8;
  case 16:
    return Kind::I16;
  case 32:
    return Kind::I32;
  case 64:
    return Kind::I64;
  default:
    return std::nullopt;
  }
}

Slot Compiler::shapeOf(Value value) const {
  Slot slot;
  slot.kind = *kindOf(value.getType());
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  slot.count = tensor ? tensor.getNumElements() : vectorLanes.value_or(1);
  return slot;
}

static size_t bytesOf(Slot slot) {
  return bytesInFrame(slot.kind) * size_t(slot.count);
}

Slot Compiler::define(Value value) {
  Slot slot = shapeOf(value);
  slot.offset = frame.allocate(bytesOf(slot));
  slots[value] = slot;
  mlir::Block *block = value.getParentBlock();
  Operation *last = value.getDefiningOp();
  for (Operation *user : value.getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (!last || last->isBeforeInBlock(ancestor))
      last = ancestor;
  }
  lastUses[last ? last : block->getTerminator()].push_back(slot);
  return slot;
}

void Compiler::defineConstant(Value value, std::vector<char> pattern) {
  Slot slot = shapeOf(value);
  auto [entry, added] = constantSlots.try_emplace({slot.kind, slot.count, pattern});
  if (added) {
    slot.offset = frame.allocateFresh(bytesOf(slot));
    entry->second = slot;
    program->constants.push_back({slot, std::move(pattern)});
  }
  slots[value] = entry->second;
}

Slot Compiler::scratch(Kind kind, int64_t count) {
  Slot slot{0, count, kind};
  slot.offset = frame.allocate(bytesOf(slot));
  return slot;
}

void Compiler::release(Slot slot) {
  frame.release(slot.offset, bytesOf(slot));
}

void Compiler::releaseDead(Operation *op) {
  if (keepValues)
    return;
  auto dead = lastUses.find(op);
  if (dead == lastUses.end())
    return;
  for (Slot slot : dead->second)
    release(slot);
  lastUses.erase(dead);
}

Instruction &Compiler::emit(Operation *op, Execute execute, ArrayRef<size_t> in, ArrayRef<size_t> out, Slot shape) {
  Instruction &instruction = current->emplace_back();
  instruction.execute = execute;
  llvm::copy(in, instruction.in.begin());
  llvm::copy(out, instruction.out.begin());
  instruction.count = vectorLanes && shape.count == *vectorLanes ? kLanes : shape.count;
  instruction.kind = shape.kind;
  instruction.op = op;
  return instruction;
}

Instruction &Compiler::emit(Operation *op, Execute execute) {
  SmallVector<size_t> in, out;
  for (Value operand : op->getOperands().take_front(std::tuple_size_v<decltype(Instruction::in)>))
    in.push_back(slotOf(operand).offset);
  Slot shape = op->getNumOperands() ? slotOf(op->getOperand(0)) : Slot();
  for (auto [index, result] : llvm::enumerate(op->getResults().take_front(2))) {
    Slot slot = define(result);
    out.push_back(slot.offset);
    if (index == 0)
      shape = slot;
  }
  return emit(op, execute, in, out, shape);
}

static bool copyBytes(Machine &machine, const Instruction &instruction) {
  std::memcpy(machine.at<char>(instruction.out[0]), machine.at<char>(instruction.in[0]),
              size_t(machine.countOf(instruction)) * bytesInFrame(instruction.kind));
  return true;
}

void Compiler::emitCopy(Operation *op, Slot from, Slot to) {
  if (from.offset != to.offset)
    emit(op, copyBytes, {from.offset}, {to.offset}, to);
}

bool Compiler::compileBlock(mlir::Block &block, Block &result, llvm::function_ref<bool(Operation *)> finish) {
  Block *outer = std::exchange(current, &result);
  bool succeeded = true;
  for (Operation &op : block.without_terminator()) {
    if (!compileOperation(&op)) {
      succeeded = false;
      break;
    }
    releaseDead(&op);
  }
  Operation *terminator = block.getTerminator();
  succeeded = succeeded && finish(terminator);
  releaseDead(terminator);
  current = outer;
  return succeeded;
}

bool Compiler::fail(Operation *op, const Twine &message) {
  if (!error)
    error = Error{message.str(), op->getLoc(), std::nullopt, std::nullopt};
  return false;
}

/// Far above the 2^20 elements that the language allows, and small enough that no size computed from it overflows.
static constexpr int64_t kMaxElements = int64_t(1) << 24;
/// Limit for all values that are live at the same time; any development machine has this much memory.
static constexpr size_t kMaxFrameBytes = size_t(4) << 30;

static bool isTooLarge(ShapedType type) {
  int64_t count = 1;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(count, size, count) || count > kMaxElements)
      return true;
  return false;
}

static bool hasEncoding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding();
}

bool Compiler::checkTypes(Operation *op) {
  for (Type type : llvm::concat<Type>(op->getOperandTypes(), op->getResultTypes())) {
    if (hasEncoding(type))
      return fail(op, "'" + op->getName().getStringRef() +
                          "' has a tensor with a layout; the interpreter runs kernels before layouts are assigned");
    std::string text;
    llvm::raw_string_ostream(text) << type;
    auto shaped = dyn_cast<ShapedType>(type);
    bool isValue = shaped ? isa<RankedTensorType>(type) && shaped.hasStaticShape() : true;
    if (isValue && shaped && isTooLarge(shaped))
      return fail(op, "'" + op->getName().getStringRef() + "' has type " + text +
                          "; the interpreter supports at most " + Twine(kMaxElements) + " elements");
    if (isValue && kindOf(type))
      continue;
    return fail(op,
                "'" + op->getName().getStringRef() + "' has type " + text + ", which the interpreter does not support");
  }
  return true;
}

static bool executeNop(Machine &, const Instruction &) {
  return true;
}

bool Compiler::compileOperation(Operation *op) {
  auto handler = handlers().find(op->getName().getStringRef());
  if (handler == handlers().end())
    return fail(op, "the interpreter does not support '" + op->getName().getStringRef() + "'");
  size_t before = current->size();
  if (!checkTypes(op) || !handler->second(*this, op))
    return false;
  // A constant needs no instruction, but a debugger stops at its line.
  if (keepValues && current->size() == before)
    emit(op, executeNop, {}, {}, Slot());
  return true;
}

bool Compiler::compileArguments(KernelOp kernel) {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (!kindOf(argument.getType())) {
      std::string text;
      llvm::raw_string_ostream(text) << argument.getType();
      return fail(kernel, "argument " + Twine(argument.getArgNumber()) + " has type " + text +
                              ", which the interpreter does not support");
    }
    Slot slot = shapeOf(argument);
    slot.offset = frame.allocateFresh(bytesOf(slot));
    slots[argument] = slot;
    program->arguments.push_back(slot);
  }
  return true;
}

std::optional<Error> Compiler::compile(KernelOp kernel, ProgramImpl &result) {
  program = &result;
  program->kernel = kernel;
  if (compileArguments(kernel))
    compileBlock(kernel.getBody().front(), program->body, [](Operation *) { return true; });
  program->frameBytes = frame.size();
  if (keepValues)
    program->slots = slots;
  if (frame.size() > kMaxFrameBytes)
    fail(kernel, "kernel '" + kernel.getSymName() + "' holds " + Twine(frame.size()) +
                     " bytes of tensors at once; the limit of the interpreter is " + Twine(kMaxFrameBytes));
  return error;
}

} // namespace tile::interp
