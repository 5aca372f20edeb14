// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Verify/Replay.h"

#include "Interpreter/Machine.h"
#include "Runner/Inputs/Arguments.h"
#include "Runtime/Grid.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <chrono>
#include <cstring>
#include <sys/mman.h>

using namespace mlir;

namespace tile::verify {
namespace {

constexpr std::chrono::seconds longestRun{5};
constexpr double fewPrograms = 64, manyPrograms = 4096; // maximum number of programs of a grid that is run completely
constexpr size_t maxFilledBytes = 16 << 20;             // larger buffers remain zero
constexpr size_t undeclaredBytes = size_t(1) << 36;     // size of a buffer without a declaration

/// Zero-filled memory whose pages are allocated only when they are touched.
class Pages {
public:
  explicit Pages(size_t bytes) : bytes(std::max<size_t>(bytes, 1)) {
    void *start =
        mmap(nullptr, this->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    address = start == MAP_FAILED ? nullptr : start;
  }
  Pages(Pages &&other) noexcept : address(std::exchange(other.address, nullptr)), bytes(other.bytes) {}
  ~Pages() {
    if (address)
      munmap(address, bytes);
  }
  void *data() const { return address; }

private:
  void *address;
  size_t bytes;
};

/// Stops a run that takes too long, and counts the iterations of the loops around an operation.
class Clock final : public interp::Observer {
public:
  explicit Clock(Operation *op) {
    for (; op && !isa<KernelOp>(op); op = op->getParentOp())
      if (isa<scf::ForOp, scf::WhileOp>(op))
        loops.insert(loops.begin(), {op});
  }
  bool before(interp::Machine &, const interp::Instruction &instruction) override {
    if (!loops.empty() && instruction.op)
      count(instruction.op);
    return ++steps % 64 != 0 || std::chrono::steady_clock::now() < end;
  }
  void ended(interp::Machine &) override {}

  /// Returns the loops, outermost first, with the current iteration of each.
  std::vector<Replay::Iteration> iterations() const {
    std::vector<Replay::Iteration> list;
    for (const Loop &loop : loops)
      if (loop.started > 0)
        list.push_back({loop.op, loop.started - 1});
    return list;
  }

private:
  struct Loop {
    Operation *op;
    Operation *first = nullptr; ///< the first operation of its body, which begins an iteration
    int64_t started = 0;
  };
  void count(Operation *op) {
    for (Loop &loop : loops) {
      if (op == loop.op)
        loop = {op};
      else if (op->getParentOp() == loop.op && (!loop.first || loop.first == op)) {
        loop.first = op;
        ++loop.started;
      }
    }
  }

  std::vector<Loop> loops;
  std::chrono::steady_clock::time_point end = std::chrono::steady_clock::now() + longestRun;
  uint64_t steps = 0;
};

/// Fills memory with floats of magnitudes near 1, such that each element differs from its neighbours.
void fillFloats(void *data, size_t bytes, runtime::DataType type) {
  const unsigned size = runtime::dataTypeSize(type);
  uint64_t state = 1;
  for (size_t i = 0; i < bytes / size; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u; // Knuth's MMIX generator
    const uint64_t fraction = state >> 44;                       // 20 bits
    const uint64_t bits = size == 8   ? 0x3FF0000000000000u | fraction << 32
                          : size == 4 ? 0x3F800000u | fraction << 3
                          : size == 2
                              ? (type == runtime::DataType::BF16 ? 0x3F80u | fraction >> 13 : 0x3C00u | fraction >> 10)
                              : 0x38u | fraction >> 17;
    std::memcpy(static_cast<char *>(data) + i * size, &bits, size);
  }
}

} // namespace

std::optional<interp::Error> Replay::runProgram(const Example &example, Operation *op) {
  if (std::optional<interp::Error> error = run(example, Programs::One, op))
    return error;
  return run(example, Programs::Few, op);
}

std::optional<interp::Error> Replay::runGrid(const Example &example) {
  return run(example, Programs::Many, /*watched=*/nullptr);
}

std::optional<std::vector<int64_t>> Replay::findUnwritten(const Example &example, const std::string &output) {
  // Runs twice, with different fills: an element that keeps both fills is not written.
  Kept runs[] = {{output, 0x5A}, {output, 0xA5}};
  for (Kept &kept : runs)
    if (run(example, Programs::Many, /*watched=*/nullptr, &kept) || !kept.hasRun)
      return std::nullopt;
  std::vector<int64_t> index(runs[0].shape.size());
  if (llvm::is_contained(runs[0].shape, 0))
    return std::nullopt;
  for (;;) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      offset += index[axis] * runs[0].strides[axis];
    if (llvm::all_of(runs, [&](const Kept &kept) {
          return std::all_of(kept.contents.begin() + offset * kept.size,
                             kept.contents.begin() + (offset + 1) * kept.size,
                             [&](uint8_t byte) { return byte == kept.byte; });
        }))
      return index;
    size_t axis = index.size();
    while (axis > 0 && ++index[axis - 1] == runs[0].shape[axis - 1])
      index[--axis] = 0;
    if (axis == 0)
      return std::nullopt;
  }
}

std::optional<interp::Error> Replay::run(const Example &example, Programs programs, Operation *watched, Kept *kept) {
  std::vector<std::string> assignments;
  for (const runtime::Parameter &parameter : manifest.parameters)
    if (auto value = example.arguments.find(parameter.name); value != example.arguments.end())
      assignments.push_back(parameter.name + "=" + std::to_string(value->second));
    else if (!parameter.isPointer && !parameter.defaultValue)
      assignments.push_back(parameter.name + "=1");
  runner::Result<runner::Bindings> bindings = runner::Bindings::bind(manifest, assignments, example.sms);
  if (!bindings)
    return std::nullopt;
  for (const std::string &requirement : manifest.requirements)
    if (auto holds = bindings->evaluate(requirement, manifest); !holds || *holds == 0)
      return std::nullopt; // the launch is rejected
  std::array<int64_t, 3> grid = example.grid;
  if (!manifest.launch.grid.empty()) {
    runner::Result<std::vector<int64_t>> sizes = runner::bindGrid(manifest, *bindings);
    if (!sizes)
      return std::nullopt;
    std::copy(sizes->begin(), sizes->end(), grid.begin());
  }
  if (runtime::checkGrid(manifest.launch, grid.data()).limit != runtime::GridFailure::Limit::None)
    return std::nullopt;
  const double most = programs == Programs::One ? 1e30 : programs == Programs::Few ? fewPrograms : manyPrograms;
  if (double(grid[0]) * double(grid[1]) * double(grid[2]) > most)
    return std::nullopt;
  for (int axis = 0; axis < 3; ++axis)
    if (example.program[axis] >= grid[axis])
      return std::nullopt;
  std::vector<Pages> memory;
  SmallVector<interp::Buffer> buffers;
  SmallVector<interp::Argument> arguments;
  for (auto [index, parameter] : llvm::enumerate(manifest.parameters)) {
    if (!parameter.isPointer) {
      arguments.push_back(interp::Argument::bitsOf(bindings->argumentBits(manifest, index)));
      continue;
    }
    size_t bytes = undeclaredBytes;
    if (parameter.buffer) {
      auto shape = bindings->evaluate(parameter.buffer->shape, manifest),
           strides = bindings->evaluate(parameter.buffer->strides, manifest);
      if (!shape || !strides)
        return std::nullopt;
      const bool isWritten = parameter.buffer->role != runtime::BufferRole::Random;
      const unsigned size = runtime::dataTypeSize(parameter.type);
      auto layout = runner::planBuffer(std::move(*shape), std::move(*strides), size, isWritten);
      if (!layout)
        return std::nullopt; // no such buffer exists
      bytes = size_t(layout->physicalElements) * size;
      if (kept && kept->buffer == parameter.name) {
        kept->shape = layout->shape;
        kept->strides = layout->strides;
        kept->size = size;
      }
    }
    memory.emplace_back(bytes);
    if (!memory.back().data())
      return std::nullopt;
    if (kept && kept->buffer == parameter.name) {
      if (bytes > maxFilledBytes)
        return std::nullopt;
      std::memset(memory.back().data(), kept->byte, bytes);
    } else if (bytes <= maxFilledBytes && runtime::isFloatType(parameter.type))
      fillFloats(memory.back().data(), bytes, parameter.type);
    arguments.push_back(interp::Argument::pointer(int(buffers.size())));
    interp::Buffer &buffer = buffers.emplace_back();
    buffer.data = memory.back().data();
    buffer.bytes = bytes;
    buffer.name = parameter.name;
    buffer.granule = runtime::dataTypeSize(parameter.type);
    buffer.readOnly = parameter.buffer && parameter.buffer->role == runtime::BufferRole::Random;
  }
  if (!compiled) {
    interp::Program::Result result = interp::Program::compile(kernel);
    if (!result.program)
      return std::nullopt;
    compiled = std::move(result.program);
  }
  Clock clock(watched);
  interp::Options options;
  options.observer = &clock;
  options.checkRaces = programs == Programs::Many;
  options.watched = watched;
  if (programs == Programs::One)
    options.only = example.program;
  const interp::Grid size{uint32_t(grid[0]), uint32_t(grid[1]), uint32_t(grid[2])};
  std::optional<interp::Error> error = compiled->run(size, arguments, buffers, options);
  iterations = clock.iterations();
  if (kept && !error)
    for (const interp::Buffer &buffer : buffers)
      if (buffer.name == kept->buffer) {
        const auto *data = static_cast<const uint8_t *>(buffer.data);
        kept->contents.assign(data, data + buffer.bytes);
        kept->hasRun = true;
      }
  return error;
}

} // namespace tile::verify
