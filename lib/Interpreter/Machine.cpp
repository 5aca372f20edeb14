// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches a compiled kernel: checks the arguments, initializes the frame, and walks over the grid.
#include "Interpreter/Compiler.h"
#include "Interpreter/Shadow.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace mlir;

namespace tile::interp {

Argument Argument::pointer(int buffer, int64_t offset) {
  Argument argument;
  argument.buffer = buffer;
  argument.offset = offset;
  return argument;
}

Argument Argument::bitsOf(uint64_t bits) {
  Argument argument;
  argument.bits = bits;
  return argument;
}

Argument Argument::f32(float value) {
  return bitsOf(std::bit_cast<uint32_t>(value));
}
Argument Argument::f64(double value) {
  return bitsOf(std::bit_cast<uint64_t>(value));
}

std::string positionOf(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return llvm::formatv("{0}:{1}:{2}", file.getFilename().getValue(), file.getLine(), file.getColumn());
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return positionOf(call.getCallee());
  if (auto name = dyn_cast<NameLoc>(location))
    return positionOf(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string position = positionOf(part); !position.empty())
        return position;
  return {};
}

std::string Error::toString() const {
  std::string text = positionOf(location);
  text += (text.empty() ? "error: " : ": error: ") + message;
  if (program)
    text += llvm::formatv("; in program ({0}, {1}, {2})", (*program)[0], (*program)[1], (*program)[2]);
  if (index)
    text += llvm::formatv("{0} element [{1:$[, ]}]", program ? "," : "; at",
                          llvm::make_range(index->begin(), index->end()));
  // Helpers are inlined; name the call sites.
  Location place = location;
  for (auto call = dyn_cast<CallSiteLoc>(place); call; call = dyn_cast<CallSiteLoc>(place)) {
    place = call.getCaller();
    if (std::string position = positionOf(place); !position.empty())
      text += "; called at " + position;
  }
  return text;
}

/// Returns the index of a row-major element in the shape of the first tensor among the op's results and operands.
static std::optional<SmallVector<int64_t>> indexIn(Operation *op, int64_t element) {
  RankedTensorType tensor;
  for (Type type : llvm::concat<Type>(op->getResultTypes(), op->getOperandTypes()))
    if ((tensor = dyn_cast<RankedTensorType>(type)))
      break;
  if (element < 0 || !tensor)
    return std::nullopt;
  SmallVector<int64_t> index(tensor.getRank());
  for (int64_t axis = tensor.getRank(); axis-- > 0; element /= tensor.getDimSize(axis))
    index[axis] = element % tensor.getDimSize(axis);
  return index;
}

bool Machine::fail(const Instruction &instruction, std::string message, int64_t element) {
  error = Error{std::move(message), instruction.op->getLoc(), program, indexIn(instruction.op, element)};
  return false;
}

bool Machine::runObserved(const Block &block) {
  for (const Instruction &instruction : block)
    if (!options.observer->before(*this, instruction) || !instruction.execute(*this, instruction))
      return false;
  return true;
}

namespace {
/// Writes one kernel argument into the frame, or explains why it is invalid.
struct ArgumentWriter {
  KernelOp kernel;
  ArrayRef<Buffer> buffers;
  char *frame;

  std::string nameOf(unsigned index) {
    if (auto name = kernel.getArgAttrOfType<StringAttr>(index, argNameAttrName))
      return ("'" + name.getValue() + "'").str();
    return llvm::formatv("number {0}", index);
  }

  std::string write(unsigned index, const Argument &argument, Slot slot) {
    bool needsBuffer = slot.kind == Kind::Pointer || slot.kind == Kind::Descriptor;
    if (needsBuffer != (argument.buffer >= 0))
      return llvm::formatv("argument {0} is a {1} but the kernel takes {2}", nameOf(index),
                           needsBuffer ? "scalar" : "pointer", kernel.getArgumentTypes()[index]);
    if (needsBuffer && size_t(argument.buffer) >= buffers.size())
      return llvm::formatv("argument {0} refers to buffer {1} but the launch has {2}", nameOf(index), argument.buffer,
                           buffers.size());
    char *place = frame + slot.offset;
    if (slot.kind == Kind::Descriptor)
      return writeDescriptor(index, argument, place);
    if (slot.kind == Kind::Pointer) {
      int32_t buffer = argument.buffer;
      std::memcpy(place, &argument.offset, sizeof(int64_t));
      std::memcpy(place + sizeof(int64_t), &buffer, sizeof(int32_t));
      return {};
    }
    writeScalar(argument.bits, slot.kind, place);
    return checkDivisibility(index, argument);
  }

  static void writeScalar(uint64_t bits, Kind kind, char *place) {
    if (kind == Kind::I1)
      bits &= 1;
    if (isSmallFloat(kind)) {
      unsigned width = kind == Kind::F16 || kind == Kind::BF16 ? 16 : 8;
      bits = std::bit_cast<uint32_t>(decode(kind, bits & ((1u << width) - 1)));
    }
    std::memcpy(place, &bits, bytesInFrame(kind)); // little endian: the low bytes come first
  }

  std::string writeDescriptor(unsigned index, const Argument &argument, char *place) {
    size_t rank = cast<DescType>(kernel.getArgumentTypes()[index]).getShape().size();
    if (argument.shape.size() != rank || argument.strides.size() != rank)
      return llvm::formatv("argument {0} has {1} sizes and {2} strides but the descriptor has rank {3}", nameOf(index),
                           argument.shape.size(), argument.strides.size(), rank);
    Descriptor descriptor{};
    descriptor.offset = argument.offset;
    descriptor.buffer = argument.buffer;
    llvm::copy(argument.shape, descriptor.shape);
    llvm::copy(argument.strides, descriptor.strides);
    std::memcpy(place, &descriptor, sizeof(descriptor));
    return {};
  }

  /// Checks that an argument has the divisibility for which the kernel was compiled, on which the compiler may rely.
  std::string checkDivisibility(unsigned index, const Argument &argument) {
    auto divisor = kernel.getArgAttrOfType<IntegerAttr>(index, divisibilityAttrName);
    auto type = dyn_cast<IntegerType>(kernel.getArgumentTypes()[index]);
    if (!divisor || !type || divisor.getInt() <= 1)
      return {};
    int64_t value = llvm::SignExtend64(argument.bits, type.getWidth());
    if (value % divisor.getInt() == 0)
      return {};
    return llvm::formatv("argument {0} is {1} but the kernel was compiled for multiples of {2}", nameOf(index), value,
                         divisor.getInt());
  }
};
} // namespace

static void writeConstant(const Constant &constant, char *frame) {
  char *place = frame + constant.slot.offset;
  size_t bytes = bytesInFrame(constant.slot.kind) * size_t(constant.slot.count);
  for (size_t done = 0; done < bytes; done += constant.pattern.size())
    std::memcpy(place + done, constant.pattern.data(), constant.pattern.size());
}

Program::Result Program::compile(KernelOp kernel, bool keepValues) {
  auto impl = std::make_shared<ProgramImpl>();
  Result result;
  result.error = Compiler(keepValues).compile(kernel, *impl);
  if (!result.error)
    result.program.emplace().impl = std::move(impl);
  return result;
}

std::optional<Error> Program::run(Grid grid, ArrayRef<Argument> arguments, ArrayRef<Buffer> buffers,
                                  const Options &options) const {
  KernelOp kernel = impl->kernel;
  auto launchError = [&](std::string message) {
    return Error{std::move(message), kernel.getLoc(), std::nullopt, std::nullopt};
  };
  if (arguments.size() != impl->arguments.size())
    return launchError(llvm::formatv("the launch has {0} arguments but kernel '{1}' takes {2}", arguments.size(),
                                     kernel.getSymName(), impl->arguments.size()));
  constexpr size_t alignment = 64;
  std::unique_ptr<char, decltype(&std::free)> frame(
      static_cast<char *>(std::aligned_alloc(alignment, std::max(impl->frameBytes, alignment))), &std::free);
  if (!frame)
    return launchError(llvm::formatv("cannot allocate the {0} bytes of tensors that kernel '{1}' holds at once",
                                     impl->frameBytes, kernel.getSymName()));
  ArgumentWriter writer{kernel, buffers, frame.get()};
  for (auto [index, argument] : llvm::enumerate(arguments))
    if (std::string message = writer.write(index, argument, impl->arguments[index]); !message.empty())
      return launchError(std::move(message));
  for (const Constant &constant : impl->constants)
    writeConstant(constant, frame.get());

  Machine machine(*impl, grid, buffers, options, frame.get());
  Shadow shadow(kernel, buffers, options);
  if (shadow.tracksAny())
    machine.shadow = &shadow;
  machine.programs = uint64_t(grid.x) * grid.y * grid.z;
  auto runOne = [&](std::array<uint32_t, 3> id) {
    machine.program = id;
    bool succeeded = machine.runBlock(impl->body);
    if (options.observer)
      options.observer->ended(machine);
    return succeeded;
  };
  if (options.only)
    return runOne(*options.only) ? std::nullopt : machine.error;
  for (uint32_t z = 0; z < grid.z; ++z)
    for (uint32_t y = 0; y < grid.y; ++y)
      for (uint32_t x = 0; x < grid.x; ++x) {
        if (options.shouldContinue && !options.shouldContinue(machine.ended, machine.programs))
          return launchError("the run was stopped");
        if (!runOne({x, y, z}))
          return machine.error;
        ++machine.ended;
      }
  return std::nullopt;
}

std::optional<Error> run(KernelOp kernel, Grid grid, ArrayRef<Argument> arguments, ArrayRef<Buffer> buffers,
                         const Options &options) {
  Program::Result compiled = Program::compile(kernel, /*keepValues=*/options.observer != nullptr);
  if (compiled.error)
    return compiled.error;
  return compiled.program->run(grid, arguments, buffers, options);
}

} // namespace tile::interp
