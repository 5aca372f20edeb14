// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Program indices, hints, checks and prints.
#include "Interpreter/Compiler.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tile::interp {

/// Returns the number of decimal digits that distinguishes all values of a format.
static unsigned digitsOf(Kind kind) {
  switch (kind) {
  case Kind::F64:
    return 17;
  case Kind::F32:
    return 9;
  case Kind::F16:
    return 5;
  default:
    return 4;
  }
}

/// Returns the size of an element in memory in bytes.
static unsigned bytesOf(Kind kind) {
  bool isByte = kind == Kind::F8E4M3 || kind == Kind::F8E5M2;
  return isByte ? 1 : isSmallFloat(kind) ? 2 : unsigned(bytesInFrame(kind));
}

/// Returns the bits of an integer or float in its own format.
static uint64_t bitsOf(const char *place, Kind kind, int64_t element) {
  if (isFloat(kind) && kind != Kind::F64)
    return encode(kind, reinterpret_cast<const float *>(place)[element]);
  uint64_t bits = 0;
  std::memcpy(&bits, place + size_t(element) * bytesOf(kind), bytesOf(kind));
  return bits;
}

void printNumber(llvm::raw_ostream &stream, const Machine &machine, Slot slot, int64_t element, bool hex,
                 bool isUnsigned) {
  const char *place = machine.at<char>(slot.offset);
  if (slot.kind == Kind::Pointer) {
    int32_t buffer = machine.at<int32_t>(pointerBuffers(slot.offset, slot.count))[element];
    stream << '\'' << machine.buffers[buffer].name << "' + " << reinterpret_cast<const int64_t *>(place)[element];
  } else if (hex) {
    stream << llvm::format_hex(bitsOf(place, slot.kind, element), 2 + 2 * bytesOf(slot.kind));
  } else if (slot.kind == Kind::F64) {
    stream << llvm::format("%.*g", digitsOf(slot.kind), reinterpret_cast<const double *>(place)[element]);
  } else if (isFloat(slot.kind)) {
    stream << llvm::format("%.*g", digitsOf(slot.kind), double(reinterpret_cast<const float *>(place)[element]));
  } else {
    uint64_t bits = bitsOf(place, slot.kind, element);
    if (isUnsigned || slot.kind == Kind::I1)
      stream << bits;
    else
      stream << llvm::SignExtend64(bits, bytesOf(slot.kind) * 8);
  }
}

namespace {

bool programId(Machine &machine, const Instruction &instruction) {
  *machine.at<uint32_t>(instruction.out[0]) = machine.program[instruction.dataAs<uint32_t>()];
  return true;
}

bool numPrograms(Machine &machine, const Instruction &instruction) {
  uint32_t sizes[] = {machine.grid.x, machine.grid.y, machine.grid.z};
  *machine.at<uint32_t>(instruction.out[0]) = sizes[instruction.dataAs<uint32_t>()];
  return true;
}

using SwizzleData = std::array<size_t, 5>;

bool swizzle(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<SwizzleData>();
  int64_t value[5];
  for (size_t i = 0; i < 5; ++i)
    value[i] = *machine.at<int32_t>(data[i]);
  auto [i, j, sizeI, sizeJ, sizeG] = value;
  if (i < 0 || i >= sizeI || j < 0 || j >= sizeJ || sizeG <= 0)
    return machine.fail(instruction, llvm::formatv("swizzle2d of ({0}, {1}) in a grid of {2} x {3} in groups of {4}; "
                                                   "the index must be inside the grid and the group size positive",
                                                   i, j, sizeI, sizeJ, sizeG));
  int64_t ij = i * sizeJ + j, groupSize = sizeG * sizeJ, first = ij / groupSize * sizeG;
  int64_t rows = std::min(sizeI - first, sizeG);
  ij %= groupSize;
  *machine.at<int32_t>(instruction.out[0]) = int32_t(first + ij % rows);
  *machine.at<int32_t>(instruction.out[1]) = int32_t(ij / rows);
  return true;
}

bool compileSwizzle(Compiler &compiler, Operation *op) {
  SwizzleData data;
  for (auto [place, operand] : llvm::zip(data, op->getOperands()))
    place = compiler.slotOf(operand).offset;
  compiler.emit(op, swizzle).data = std::make_shared<const SwizzleData>(data);
  return true;
}

bool assume(Machine &machine, const Instruction &instruction) {
  if (*machine.at<uint8_t>(instruction.in[0]))
    return true;
  return machine.fail(instruction, "an assumption of the kernel does not hold");
}

/// The contents of a hint, and the value that it applies to. Contiguity is not checked: Triton's own kernels claim it
/// for rows that they wrap or clamp, whose elements beyond the last row are unused.
struct HintData {
  Slot slot;
  SmallVector<int64_t> shape, divisibility, constancy;
};

/// Reads the elements of a value: integers are sign-extended; pointers are returned as addresses.
std::vector<int64_t> readIntegers(const Machine &machine, Slot slot) {
  std::vector<int64_t> integers;
  const char *place = machine.at<char>(slot.offset);
  size_t bytes = bytesInFrame(slot.kind);
  for (int64_t element = 0; element < slot.count; ++element) {
    if (slot.kind == Kind::Pointer) {
      int32_t buffer = machine.at<int32_t>(pointerBuffers(slot.offset, slot.count))[element];
      integers.push_back(reinterpret_cast<int64_t>(machine.buffers[buffer].data) +
                         reinterpret_cast<const int64_t *>(place)[element]);
      continue;
    }
    uint64_t bits = 0;
    std::memcpy(&bits, place + size_t(element) * bytes, bytes);
    integers.push_back(llvm::SignExtend64(bits, unsigned(bytes) * 8));
  }
  return integers;
}

class HintCheck {
public:
  HintCheck(Machine &machine, const Instruction &instruction)
      : machine(machine), instruction(instruction), data(instruction.dataAs<HintData>()),
        integers(readIntegers(machine, data.slot)) {}

  bool run() {
    int64_t stride = data.slot.count;
    for (size_t dim = 0; dim < data.shape.size(); ++dim) {
      int64_t size = data.shape[dim];
      stride /= size;
      int64_t most = std::min(HintOp::maxElements, size & -size);
      if (!checkConstancy(dim, stride, std::min(data.constancy[dim], most)))
        return false;
    }
    return checkDivisibility();
  }

private:
  bool checkConstancy(size_t dim, int64_t stride, int64_t said) {
    for (int64_t element = 0; element < data.slot.count; ++element)
      if (element / stride % data.shape[dim] % (said & -said) != 0 && integers[element] != integers[element - stride])
        return fail(
            llvm::formatv("groups of {0} elements along dimension {1} must be equal, but {2} is followed by {3}", said,
                          dim, print(element - stride), print(element)),
            element);
    return true;
  }

  /// Checks the first element only: it is the first of its contiguous group, whatever the size of the groups.
  bool checkDivisibility() {
    for (int64_t divisor : data.divisibility)
      if (integers.front() % (divisor & -divisor) != 0)
        return fail(llvm::formatv("{0} is not a multiple of {1}", print(0), divisor), 0);
    return true;
  }

  std::string print(int64_t element) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printNumber(stream, machine, data.slot, element);
    if (data.slot.kind == Kind::Pointer)
      stream << " (address " << llvm::format_hex(uint64_t(integers[element]), 2) << ")";
    return text;
  }

  bool fail(const std::string &what, int64_t element) {
    return machine.fail(instruction, "a hint of the kernel does not hold: " + what, data.shape.empty() ? -1 : element);
  }

  Machine &machine;
  const Instruction &instruction;
  const HintData &data;
  const std::vector<int64_t> integers;
};

bool checkHint(Machine &machine, const Instruction &instruction) {
  return HintCheck(machine, instruction).run();
}

bool compileHint(Compiler &compiler, Operation *operation) {
  auto op = cast<HintOp>(operation);
  Slot from = compiler.slotOf(op.getSrc());
  compiler.emitCopy(op, from, compiler.define(op.getResult()));
  // In a region that runs on many elements at the same time, the elements do not form a tensor.
  if (compiler.vectorLanes || isFloat(from.kind))
    return true;
  HintData data;
  data.slot = from;
  Type type = op.getType();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    data.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  auto copy = [&](SmallVector<int64_t> &to, std::optional<ArrayRef<int64_t>> integers) {
    to.assign(std::max<size_t>(data.shape.size(), 1), 1);
    if (integers)
      to.assign(integers->begin(), integers->end());
  };
  copy(data.divisibility, op.getDivisibility());
  copy(data.constancy, op.getConstancy());
  compiler.emit(op, checkHint, {}, {}, Slot()).data = std::make_shared<const HintData>(std::move(data));
  return true;
}

bool check(Machine &machine, const Instruction &instruction) {
  const uint8_t *condition = machine.at<uint8_t>(instruction.in[0]);
  const uint8_t *wrong = std::find(condition, condition + instruction.count, uint8_t(0));
  if (wrong == condition + instruction.count)
    return true;
  return machine.fail(instruction, "assertion failed: " + cast<AssertOp>(instruction.op).getMessage().str(),
                      wrong - condition);
}

struct PrintData {
  SmallVector<Slot, 4> values;
  SmallVector<int64_t, 5> shape;
  int64_t count = 1;
};

/// Prints `pid (x, y, z) idx (i, j) prefix value, value`, one line for each element; scalar arguments are repeated.
bool print(Machine &machine, const Instruction &instruction) {
  llvm::raw_ostream *stream = machine.options.prints;
  if (!stream)
    return true;
  const auto &data = instruction.dataAs<PrintData>();
  auto op = cast<PrintOp>(instruction.op);
  auto [x, y, z] = machine.program;
  SmallVector<int64_t> index(data.shape.size());
  for (int64_t element = 0; element < data.count; ++element) {
    *stream << llvm::formatv("pid ({0}, {1}, {2}) idx ({3:$[, ]}) {4}", x, y, z,
                             llvm::make_range(index.begin(), index.end()), op.getPrefix());
    for (auto [number, slot] : llvm::enumerate(data.values)) {
      *stream << (number == 0 ? "" : ", ");
      printNumber(*stream, machine, slot, slot.count == 1 ? 0 : element, op.getHex(), op.isUnsignedArg(number));
    }
    *stream << '\n';
    for (size_t axis = index.size(); axis-- > 0 && ++index[axis] == data.shape[axis];)
      index[axis] = 0;
  }
  return true;
}

bool compilePrint(Compiler &compiler, Operation *op) {
  auto data = std::make_shared<PrintData>();
  for (Value operand : op->getOperands()) {
    data->values.push_back(compiler.slotOf(operand));
    if (auto tensor = dyn_cast<RankedTensorType>(operand.getType())) {
      data->shape.assign(tensor.getShape().begin(), tensor.getShape().end());
      data->count = tensor.getNumElements();
    }
  }
  compiler.emit(op, print, {}, {}, Slot()).data = std::move(data);
  return true;
}

void addGridOp(HandlerTable &table, StringRef name, Execute execute) {
  table[name] = [execute](Compiler &compiler, Operation *op) {
    uint32_t axis = uint32_t(op->getAttrOfType<IntegerAttr>("axis").getInt());
    compiler.emit(op, execute).data = std::make_shared<const uint32_t>(axis);
    return true;
  };
}

void addSimple(HandlerTable &table, StringRef name, Execute execute) {
  table[name] = [execute](Compiler &compiler, Operation *op) {
    compiler.emit(op, execute);
    return true;
  };
}

/// Barriers and grid dependencies need no instruction, because programs run one at a time and in order.
bool compileNothing(Compiler &, Operation *) {
  return true;
}

bool rejectAsm(Compiler &compiler, Operation *op) {
  return compiler.fail(op, "the kernel contains PTX (inline_asm_elementwise), which the interpreter does not execute");
}

} // namespace

void registerProgramOps(HandlerTable &table) {
  addGridOp(table, "tile.program_id", programId);
  addGridOp(table, "tile.num_programs", numPrograms);
  table["tile.swizzle2d"] = compileSwizzle;
  addSimple(table, "tile.assume", assume);
  table["tile.hint"] = compileHint;
  addSimple(table, "tile.assert", check);
  table["tile.print"] = compilePrint;
  table["tile.barrier"] = compileNothing;
  table["tile.grid_dependency"] = compileNothing;
  table["tile.inline_asm"] = rejectAsm;
}

} // namespace tile::interp
