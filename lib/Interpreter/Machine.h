// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compact form of a kernel, and the machine that executes it.
//
// A program is a tree of blocks of instructions. An instruction is a function pointer with the byte offsets of its
// operands and results in one frame of memory (the register file) and the number of elements to process. Tensor values
// are contiguous. A tensor of n pointers is n 64-bit byte offsets followed by n 32-bit buffer indices.
//
//   %s = arith.addf %a, %b : tensor<128xf32>   ->   {binaryFloat<add>, in {1024, 1536}, out {2048}, count 128}
//
// Control flow is an instruction with nested blocks, so a block runs without branches. Inside a combine region that
// runs on whole vectors, `count` is kLanes; the number of elements is then Machine::lanes.
#pragma once

#include "Interpreter/Interpreter.h"
#include "Interpreter/NumberFormats.h"

#include <cstring>
#include <vector>

namespace tile::interp {

class Machine;
struct Instruction;
using Execute = bool (*)(Machine &, const Instruction &);

inline constexpr int64_t kLanes = -1;

/// Offset and type of a value in the frame.
struct Slot {
  size_t offset = 0;
  int64_t count = 0; ///< elements
  Kind kind = Kind::I32;
};

struct Instruction {
  Execute execute = nullptr;
  std::array<size_t, 3> in{};
  std::array<size_t, 2> out{};
  int64_t count = 0;
  Kind kind = Kind::I32;            ///< kind of the elements; small floats are rounded to it
  mlir::Operation *op = nullptr;    ///< for messages
  std::shared_ptr<const void> data; ///< extra data of some instructions: blocks, shapes, variadic operands

  template <typename T> const T &dataAs() const { return *static_cast<const T *>(data.get()); }
};

using Block = std::vector<Instruction>;

/// Returns the size of one element in the frame in bytes.
constexpr size_t bytesInFrame(Kind kind) {
  constexpr size_t sizes[] = {1, 1, 2, 4, 8, 4, 4, 4, 4, 4, 8, 12, 96};
  return sizes[size_t(kind)];
}

/// A descriptor value: the global tensor that it describes, or the location of the tensor map that describes it. Fits
/// bytesInFrame(Kind::Descriptor).
struct Descriptor {
  int64_t offset;
  int64_t shape[5], strides[5];
  int32_t buffer;
  int32_t isMap; ///< 0 or 1
};
static_assert(sizeof(Descriptor) <= bytesInFrame(Kind::Descriptor));

/// A value that is written once before the first program: `count` copies of `pattern`, or a pattern of all elements.
struct Constant {
  Slot slot;
  std::vector<char> pattern;
};

struct ProgramImpl {
  KernelOp kernel;
  Block body;
  std::vector<Slot> arguments;
  std::vector<Constant> constants;
  size_t frameBytes = 0;
  llvm::DenseMap<mlir::Value, Slot> slots; ///< only filled if values are kept
};

class Shadow;

class Machine {
public:
  Machine(const ProgramImpl &code, Grid grid, llvm::ArrayRef<Buffer> buffers, const Options &options, char *frame)
      : code(code), grid(grid), buffers(buffers), options(options), frame(frame) {}

  /// Executes a block. Returns false if an instruction failed, with `error` set.
  bool runBlock(const Block &block) {
    if (options.observer)
      return runObserved(block);
    for (const Instruction &instruction : block)
      if (!instruction.execute(*this, instruction))
        return false;
    return true;
  }

  template <typename T> T *at(size_t offset) const { return reinterpret_cast<T *>(frame + offset); }
  int64_t countOf(const Instruction &instruction) const {
    return instruction.count == kLanes ? lanes : instruction.count;
  }

  /// Called for each iteration of a loop. Returns false, with `error` set, if the run is to stop.
  bool shouldContinue(const Instruction &loop) {
    constexpr uint64_t rare = 1024; // iterations between callbacks: so many that the callbacks take no noticeable time
    if (!options.shouldContinue || ++iterations % rare != 0)
      return true;
    return options.shouldContinue(ended, programs) || fail(loop, "the run was stopped");
  }

  /// Records an error at the instruction and returns false. `element` is the row-major index of the tensor element, -1
  /// for none.
  bool fail(const Instruction &instruction, std::string message, int64_t element = -1);

  const ProgramImpl &code;
  const Grid grid;
  const llvm::ArrayRef<Buffer> buffers;
  const Options options;
  char *const frame;
  std::array<uint32_t, 3> program{};
  uint64_t ended = 0;    ///< number of programs that have ended
  uint64_t programs = 1; ///< number of programs in the grid
  uint64_t changes = 0;  ///< number of changes of memory and reads of the timer, either of which may end a waiting loop
  int64_t lanes = 1;
  std::optional<Error> error;
  uint64_t outside = 0;     ///< memory for unchecked accesses outside of buffers
  Shadow *shadow = nullptr; ///< null: accesses are checked against bounds only

private:
  bool runObserved(const Block &block);

  uint64_t iterations = 0;
};

/// Prints an element of a value: floats with enough digits to distinguish them, pointers as buffer and offset.
void printNumber(llvm::raw_ostream &stream, const Machine &machine, Slot slot, int64_t element, bool hex = false,
                 bool isUnsigned = false);

/// Returns the offset of the buffer indices of `count` pointers whose byte offsets start at `offset`.
inline size_t pointerBuffers(size_t offset, int64_t count) {
  return offset + size_t(count) * sizeof(int64_t);
}

} // namespace tile::interp
