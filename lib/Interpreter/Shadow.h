// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the interpreter remembers of each element of a buffer: whether anything was written to it, and which programs
// have written and read it. On a GPU programs run in any order and at the same time, so what one writes no other may
// read or write; nor may one store write an element twice. Here all have an order, and such races would pass unnoticed.
//
//   program 0 stores 1 to x[5], program 1 loads x[5]        error at the load: the order decides what is loaded
//   program 0 stores 1 to x[5], program 1 stores 1 to x[5]  no error: the order changes nothing
//   tl.store(x + i // 2, i)                                 error: x[0] may become 0 or 1
#pragma once

#include "Interpreter/Machine.h"

namespace tile::interp {

class Shadow {
public:
  Shadow(KernelOp kernel, llvm::ArrayRef<Buffer> buffers, const Options &options);

  bool tracksAny() const { return !buffers.empty(); }
  /// The writes that follow are those of one store of a block.
  void beginStore() { ++stores; }
  /// The instruction reads `bytes` bytes at an address inside of the buffer, for an element of its tensor; false after
  /// Machine::fail.
  bool read(Machine &machine, const Instruction &instruction, int32_t buffer, const char *address, size_t bytes,
            int64_t element) {
    return !buffers[buffer].isTracked() || readTracked(machine, instruction, buffer, address, bytes, element);
  }
  /// It has written there; `old` is what was there before.
  bool write(Machine &machine, const Instruction &instruction, int32_t buffer, const char *address, const char *old,
             size_t bytes, int64_t element) {
    return !buffers[buffer].isTracked() || writeTracked(machine, instruction, buffer, address, old, bytes, element);
  }

private:
  /// An access by one program: numbers in `events`, 0 for none.
  struct Cell {
    uint32_t writer = 0, reader = 0;
    uint32_t otherReader = 0; ///< of another program than `reader`
    uint32_t store = 0;       ///< the last one that wrote here: its number in `stores`
  };
  struct Tracked {
    size_t granule = 1;
    std::vector<Cell> cells;          ///< empty: races are not checked
    std::vector<uint8_t> initialized; ///< empty: everything is

    bool isTracked() const { return !cells.empty() || !initialized.empty(); }
  };
  struct Event {
    std::array<uint32_t, 3> program{};
    mlir::Operation *op = nullptr;
  };

  bool readTracked(Machine &, const Instruction &, int32_t, const char *, size_t, int64_t);
  bool writeTracked(Machine &, const Instruction &, int32_t, const char *, const char *, size_t, int64_t);
  uint32_t currentEvent(const Machine &machine, mlir::Operation *op);
  bool isOther(uint32_t event, const Machine &machine) const;
  bool failRace(Machine &machine, const Instruction &instruction, llvm::StringRef what, int32_t buffer, size_t cell,
                llvm::StringRef other, uint32_t event, int64_t element);

  std::vector<Tracked> buffers;
  std::vector<Event> events;
  uint32_t stores = 0;                                 ///< executed so far; more than it can hold take days
  llvm::DenseMap<mlir::Operation *, uint32_t> current; ///< of `currentProgram`
  std::array<uint32_t, 3> currentProgram{};
};

} // namespace tile::interp
