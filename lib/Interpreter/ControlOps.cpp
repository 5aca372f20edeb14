// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structured control flow. A loop-carried value and the loop's result share one slot, so values are copied only on
// entry and at yields. Yields that permute carried values go through temporaries.
#include "Interpreter/Compiler.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tile::interp {
namespace {

struct ForData {
  size_t lower, upper, step, variable;
  bool isUnsigned;
  Block body;
};

int64_t readInteger(const Machine &machine, size_t offset, Kind kind, bool isUnsigned) {
  uint64_t bits = 0;
  std::memcpy(&bits, machine.at<char>(offset), bytesInFrame(kind));
  unsigned width = kind == Kind::I1 ? 1 : unsigned(bytesInFrame(kind)) * 8;
  return isUnsigned ? int64_t(bits) : llvm::SignExtend64(bits, width);
}

bool runFor(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<ForData>();
  auto read = [&](size_t offset) { return readInteger(machine, offset, instruction.kind, data.isUnsigned); };
  int64_t variable = read(data.lower), upper = read(data.upper), step = read(data.step);
  if (data.isUnsigned ? step == 0 : step <= 0)
    return machine.fail(instruction, llvm::formatv("the loop's step is {0}; it must be positive", step));
  if (data.isUnsigned ? uint64_t(variable) >= uint64_t(upper) : variable >= upper)
    return true;
  // The distance to the end fits into 64 unsigned bits, so the induction variable never wraps.
  for (;; variable = int64_t(uint64_t(variable) + uint64_t(step))) {
    std::memcpy(machine.at<char>(data.variable), &variable, bytesInFrame(instruction.kind));
    if (!machine.runBlock(data.body) || !machine.shouldContinue(instruction))
      return false;
    if (uint64_t(upper) - uint64_t(variable) <= uint64_t(step))
      return true;
  }
}

/// Copies the yielded values to the carried values. A carried value that is yielded to another one is saved first.
void emitYield(Compiler &compiler, Operation *yield, mlir::Block *body, ArrayRef<Slot> carried) {
  SmallVector<Slot> sources, aside;
  for (auto [index, value] : llvm::enumerate(yield->getOperands())) {
    Slot slot = compiler.slotOf(value);
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == body && slot.offset != carried[index].offset) {
      aside.push_back(compiler.scratch(slot.kind, slot.count));
      compiler.emitCopy(yield, slot, aside.back());
      slot = aside.back();
    }
    sources.push_back(slot);
  }
  for (auto [source, target] : llvm::zip(sources, carried))
    compiler.emitCopy(yield, source, target);
  for (Slot slot : aside)
    compiler.release(slot);
}

bool compileFor(Compiler &compiler, Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  SmallVector<Slot> carried;
  for (auto [result, argument, initial] : llvm::zip(loop.getResults(), loop.getRegionIterArgs(), loop.getInitArgs())) {
    carried.push_back(compiler.define(result));
    compiler.alias(argument, carried.back());
    compiler.emitCopy(op, compiler.slotOf(initial), carried.back());
  }
  auto data = std::make_shared<ForData>();
  data->lower = compiler.slotOf(loop.getLowerBound()).offset;
  data->upper = compiler.slotOf(loop.getUpperBound()).offset;
  data->step = compiler.slotOf(loop.getStep()).offset;
  data->isUnsigned = loop.getUnsignedCmp();
  Slot variable = compiler.define(loop.getInductionVar());
  data->variable = variable.offset;
  bool succeeded = compiler.compileBlock(*loop.getBody(), data->body, [&](Operation *yield) {
    emitYield(compiler, yield, loop.getBody(), carried);
    return true;
  });
  if (succeeded)
    compiler.emit(op, runFor, {}, {}, variable).data = std::move(data);
  return succeeded;
}

struct ProgramsData {
  size_t sizes[ProgramsOp::numAxes], coordinates[ProgramsOp::numAxes];
  Block body;
};

/// Runs the programs of this CTA in grid order; the distance between two of them is the number of CTAs. The
/// distribution of programs over CTAs does not affect results.
bool runPrograms(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<ProgramsData>();
  uint64_t sizes[ProgramsOp::numAxes], count = 1;
  for (auto [size, place] : llvm::zip_equal(sizes, data.sizes))
    count *= size = *machine.at<uint32_t>(place);
  for (uint64_t program = machine.program[0]; program < count; program += machine.grid.x) {
    uint64_t remainder = program;
    for (auto [size, place] : llvm::zip_equal(sizes, data.coordinates)) {
      *machine.at<uint32_t>(place) = uint32_t(remainder % size);
      remainder /= size;
    }
    if (!machine.runBlock(data.body))
      return false;
  }
  return true;
}

bool compilePrograms(Compiler &compiler, Operation *op) {
  auto programs = cast<ProgramsOp>(op);
  if (programs.getWork().splitsSteps())
    return compiler.fail(op, "the CTAs of a cluster split K, which the interpreter does not support");
  auto data = std::make_shared<ProgramsData>();
  for (unsigned axis = 0; axis < ProgramsOp::numAxes; ++axis) {
    data->sizes[axis] = compiler.slotOf(programs.getSizes()[axis]).offset;
    data->coordinates[axis] = compiler.define(programs.getCoordinates()[axis]).offset;
  }
  compiler.defineConstant(programs.getExists(), {1});
  bool succeeded = compiler.compileBlock(programs.getBody().front(), data->body, [](Operation *) { return true; });
  if (succeeded)
    compiler.emit(op, runPrograms, {}, {}, Slot()).data = std::move(data);
  return succeeded;
}

struct IfData {
  Block yes, no;
};

bool runIf(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<IfData>();
  return machine.runBlock(*machine.at<uint8_t>(instruction.in[0]) ? data.yes : data.no);
}

bool compileIf(Compiler &compiler, Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  SmallVector<Slot> results;
  for (Value result : branch.getResults())
    results.push_back(compiler.define(result));
  auto data = std::make_shared<IfData>();
  auto finish = [&](Operation *yield) {
    for (auto [value, target] : llvm::zip(yield->getOperands(), results))
      compiler.emitCopy(yield, compiler.slotOf(value), target);
    return true;
  };
  if (!compiler.compileBlock(*branch.thenBlock(), data->yes, finish))
    return false;
  if (branch.elseBlock() && !compiler.compileBlock(*branch.elseBlock(), data->no, finish))
    return false;
  compiler.emit(op, runIf, {compiler.slotOf(branch.getCondition()).offset}, {}, Slot()).data = std::move(data);
  return true;
}

struct WhileData {
  size_t condition;
  SmallVector<Slot> carried;
  Block before, after;
};

std::string carriedBytes(const Machine &machine, ArrayRef<Slot> carried) {
  std::string bytes;
  for (Slot slot : carried)
    bytes.append(machine.at<char>(slot.offset), size_t(slot.count) * bytesInFrame(slot.kind));
  return bytes;
}

/// Runs a loop, and detects endless loops: if an iteration changes neither memory nor carried values, it waits for
/// another program.
bool runWhile(Machine &machine, const Instruction &instruction) {
  constexpr uint64_t patience = 1000; // number of iterations before the first check, which is expensive
  const auto &data = instruction.dataAs<WhileData>();
  uint64_t changes = 0;
  std::string carried;
  for (uint64_t iteration = 0;; ++iteration) {
    if (!machine.runBlock(data.before))
      return false;
    if (!*machine.at<uint8_t>(data.condition))
      return true;
    if (!machine.runBlock(data.after) || !machine.shouldContinue(instruction))
      return false;
    if (iteration < patience)
      continue;
    std::string now = carriedBytes(machine, data.carried);
    if (iteration > patience && changes == machine.changes && carried == now)
      return machine.fail(instruction, "this loop never ends: no iteration changes anything; the interpreter runs "
                                       "programs one after the other, so none can wait for a later one");
    changes = machine.changes;
    carried = std::move(now);
  }
}

bool compileWhile(Compiler &compiler, Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  SmallVector<Slot> results, arguments;
  for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getAfterArguments())) {
    results.push_back(compiler.define(result));
    compiler.alias(argument, results.back());
  }
  for (auto [argument, initial] : llvm::zip(loop.getBeforeArguments(), loop.getInits())) {
    Slot slot = compiler.slotOf(initial);
    arguments.push_back(compiler.scratch(slot.kind, slot.count));
    compiler.alias(argument, arguments.back());
    compiler.emitCopy(op, slot, arguments.back());
  }
  // The condition is copied out of the block, because later values may reuse its slot.
  Slot condition = compiler.scratch(Kind::I1, 1);
  auto data = std::make_shared<WhileData>();
  data->condition = condition.offset;
  data->carried = arguments;
  bool succeeded = compiler.compileBlock(*loop.getBeforeBody(), data->before, [&](Operation *terminator) {
    auto conditionOp = cast<scf::ConditionOp>(terminator);
    compiler.emitCopy(terminator, compiler.slotOf(conditionOp.getCondition()), condition);
    for (auto [value, target] : llvm::zip(conditionOp.getArgs(), results))
      compiler.emitCopy(terminator, compiler.slotOf(value), target);
    return true;
  });
  succeeded = succeeded && compiler.compileBlock(*loop.getAfterBody(), data->after, [&](Operation *yield) {
    for (auto [value, target] : llvm::zip(yield->getOperands(), arguments))
      compiler.emitCopy(yield, compiler.slotOf(value), target);
    return true;
  });
  arguments.push_back(condition);
  for (Slot slot : arguments)
    compiler.release(slot);
  if (succeeded)
    compiler.emit(op, runWhile, {}, {}, Slot()).data = std::move(data);
  return succeeded;
}

} // namespace

void registerControlOps(HandlerTable &table) {
  table["tile.programs"] = compilePrograms;
  table["scf.for"] = compileFor;
  table["scf.if"] = compileIf;
  table["scf.while"] = compileWhile;
}

} // namespace tile::interp
