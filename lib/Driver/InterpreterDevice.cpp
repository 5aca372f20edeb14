// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts the runner's arguments and buffers to arguments and buffers of the interpreter.
#include "Driver/InterpreterDevice.h"

#include "Frontend/Frontend.h"

#include "llvm/Support/raw_ostream.h"

#include <iostream>

namespace tile::driver {
namespace {

class InterpreterDevice : public runner::Device {
public:
  InterpreterDevice(KernelOp kernel, InterpreterOptions wanted, interp::DebugInfo info)
      : kernel(kernel), wanted(std::move(wanted)), info(std::move(info)) {}

  std::string name() const override { return "interp"; }
  /// An interpreter has no SMs. Returns a number large enough to show how a persistent kernel distributes work.
  int multiprocessorCount() const override { return 8; }

  runner::Result<runner::RunTiming> run(const runtime::Manifest &, const runner::Grid &grid,
                                        std::span<runner::DeviceArgument> arguments) override {
    llvm::SmallVector<interp::Argument> values;
    llvm::SmallVector<interp::Buffer> buffers;
    for (const runner::DeviceArgument &argument : arguments) {
      if (!argument.buffer) {
        values.push_back(interp::Argument::bitsOf(argument.bits));
        continue;
      }
      values.push_back(interp::Argument::pointer(int(buffers.size())));
      // A buffer without a declaration is treated as initialized.
      const std::optional<runtime::BufferSpec> &declared = argument.parameter->buffer;
      runtime::BufferRole role = declared ? declared->role : runtime::BufferRole::Inout;
      interp::Buffer &buffer = buffers.emplace_back();
      buffer.data = argument.buffer->data();
      buffer.bytes = argument.buffer->dataBytes();
      buffer.name = argument.parameter->name;
      buffer.granule = runtime::dataTypeSize(argument.parameter->type);
      buffer.initialized = role != runtime::BufferRole::Output;
      buffer.readOnly = role == runtime::BufferRole::Random;
    }
    std::vector<uint64_t> addresses;
    for (const runner::DeviceArgument &argument : arguments)
      addresses.push_back(argument.buffer ? reinterpret_cast<uint64_t>(argument.buffer->data()) : 0);
    const runner::Addressed addressed(arguments, addresses);
    interp::Options options;
    options.prints = &llvm::outs();
    options.checkRaces = wanted.checkRaces;
    options.checkUninitialized = wanted.checkUninitialized;
    options.checkOverflow = wanted.checkOverflow;
    interp::Debugger debugger(info, wanted.debug, std::cin, llvm::outs());
    if (wanted.needsDebugger())
      options.observer = &debugger;
    interp::Grid size{uint32_t(grid[0]), uint32_t(grid[1]), uint32_t(grid[2])};
    runner::LongWork work("interpreter", wanted.limit);
    options.shouldContinue = [&](uint64_t ended, uint64_t programs) {
      return work.reach(double(ended), double(programs));
    };
    std::optional<interp::Error> error = interp::run(kernel, size, values, buffers, options);
    if (!error)
      debugger.reportUnreached();
    llvm::outs().flush();
    if (work.wasStopped())
      return work.error();
    if (error)
      return runtime::makeError(TILE_ERROR_DRIVER, "{}", error->toString());
    return runner::RunTiming{};
  }

private:
  KernelOp kernel;
  InterpreterOptions wanted;
  interp::DebugInfo info;
};

} // namespace

interp::DebugInfo makeDebugInfo(KernelOp kernel, const frontend::KernelText &text, llvm::StringRef source) {
  interp::DebugInfo info;
  for (const frontend::VariableRecord &record : text.variables)
    info.variables.push_back({record.name, record.value, record.constant, record.isUnsigned, record.line, record.frame,
                              record.block, record.after});
  info.functions = text.functions;
  info.kernel = kernel.getSymName().str();
  llvm::SmallVector<llvm::StringRef> lines;
  source.split(lines, '\n');
  for (llvm::StringRef line : lines)
    info.lines.push_back(line.rtrim('\r').str());
  kernel.walk([&](mlir::Operation *op) {
    for (const interp::StackFrame &frame : info.stackOf(op))
      info.codeLines.insert(frame.line);
  });
  return info;
}

std::unique_ptr<runner::Device> createInterpreterDevice(KernelOp kernel, InterpreterOptions options,
                                                        interp::DebugInfo info) {
  return std::make_unique<InterpreterDevice>(kernel, std::move(options), std::move(info));
}

} // namespace tile::driver
