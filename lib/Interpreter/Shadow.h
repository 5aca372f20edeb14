// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shadow memory records, for each element of a buffer, whether it was written, and which programs have written and read
// it. On a GPU, programs run concurrently in any order, so no program may access an element that another program
// writes, and a store must not write an element twice. The interpreter runs programs in order, so without these checks
// such races would pass unnoticed.
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
  /// Begins a store of a block; the following writes belong to it.
  void beginStore() { ++stores; }
  /// Records that the instruction reads `bytes` bytes at an address inside the buffer, for an element of its tensor.
  /// Returns false after Machine::fail.
  bool read(Machine &machine, const Instruction &instruction, int32_t buffer, const char *address, size_t bytes,
            int64_t element) {
    return !buffers[buffer].isTracked() || readTracked(machine, instruction, buffer, address, bytes, element);
  }
  /// Records a completed write; `old` points to the previous contents.
  bool write(Machine &machine, const Instruction &instruction, int32_t buffer, const char *address, const char *old,
             size_t bytes, int64_t element) {
    return !buffers[buffer].isTracked() || writeTracked(machine, instruction, buffer, address, old, bytes, element);
  }

private:
  /// The accesses to one element: indices into `events`, 0 for none.
  struct Cell {
    uint32_t writer = 0, reader = 0;
    uint32_t otherReader = 0; ///< a program other than that of `reader`
    uint32_t store = 0;       ///< the last store that wrote here: its number in `stores`
  };
  struct Tracked {
    size_t granule = 1;
    std::vector<Cell> cells;          ///< empty: races are not checked
    std::vector<uint8_t> initialized; ///< empty: all elements are initialized

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
  uint32_t stores = 0;                                 ///< stores executed so far; an overflow would take days
  llvm::DenseMap<mlir::Operation *, uint32_t> current; ///< events of `currentProgram`
  std::array<uint32_t, 3> currentProgram{};
};

} // namespace tile::interp
