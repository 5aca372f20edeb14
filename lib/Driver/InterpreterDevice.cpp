// Adapter: the runner's arguments and buffers -> the interpreter's.
#include "Driver/InterpreterDevice.h"

#include "Interpreter/Interpreter.h"

#include "llvm/Support/raw_ostream.h"

namespace tile::driver {
namespace {

class InterpreterDevice : public runner::Device {
public:
  explicit InterpreterDevice(KernelOp kernel) : kernel(kernel) {}

  std::string name() const override { return "interp"; }
  /// There are no multiprocessors; a persistent kernel gets enough programs to show its distribution of work.
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
      buffers.push_back({argument.buffer->data(), argument.buffer->dataBytes(), argument.parameter->name});
    }
    interp::Options options;
    options.prints = &llvm::outs();
    interp::Grid size{uint32_t(grid[0]), uint32_t(grid[1]), uint32_t(grid[2])};
    std::optional<interp::Error> error = interp::run(kernel, size, values, buffers, options);
    llvm::outs().flush();
    if (error)
      return runtime::makeError(TILE_ERROR_DRIVER, "{}", error->toString());
    return runner::RunTiming{};
  }

private:
  KernelOp kernel;
};

} // namespace

std::unique_ptr<runner::Device> createInterpreterDevice(KernelOp kernel) {
  return std::make_unique<InterpreterDevice>(kernel);
}

} // namespace tile::driver
