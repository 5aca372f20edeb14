// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reference interpreter: runs a kernel of the tile dialect (phase *tile*, no encodings) on host memory.
//
// `Program::compile` translates the kernel once into vector instructions over a register file. `Program::run` executes
// every program of a grid, in grid order (x fastest), on one thread, with the same result on every machine. Every
// pointer carries the buffer that it was derived from, so an access outside that buffer is an error even if the address
// happens to lie in another one. README.md of this folder specifies the semantics that the dialect leaves open.
#pragma once

#include "Tile/TileDialect.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tile::interp {

/// Memory of the caller that a kernel may access.
struct Buffer {
  void *data = nullptr;
  size_t bytes = 0;
  std::string name;
  size_t granule = 1;      ///< element size in bytes: the granularity of race and initialization checks
  bool initialized = true; ///< false: the contents are undefined until the kernel writes them
  bool readOnly = false;   ///< the kernel must not write it, so its accesses cannot race
};

/// Value of one kernel parameter: a pointer into a buffer, or the bits of a scalar.
struct Argument {
  int buffer = -1;    ///< index into the launch's buffers, -1 for a scalar
  int64_t offset = 0; ///< offset from the buffer's start in bytes
  uint64_t bits = 0;  ///< bits of the scalar in the width of the parameter's type; higher bits are ignored
  llvm::SmallVector<int64_t, 5> shape, strides; ///< sizes and strides of a descriptor parameter, in elements

  static Argument pointer(int buffer, int64_t offset = 0);
  static Argument bitsOf(uint64_t bits);
  static Argument integer(int64_t value) { return bitsOf(uint64_t(value)); }
  static Argument f32(float value);
  static Argument f64(double value);
};

struct Grid {
  uint32_t x = 1, y = 1, z = 1;
};

class Machine;
struct Instruction;

/// Observes every instruction, for a debugger.
class Observer {
public:
  virtual ~Observer() = default;
  /// Called before an instruction. Returning false ends the run with Machine::error, which the observer must have set.
  virtual bool before(Machine &machine, const Instruction &instruction) = 0;
  /// Called after the last instruction of a program, or after the instruction that failed with Machine::error.
  virtual void ended(Machine &machine) = 0;
};

struct Options {
  llvm::raw_ostream *prints = nullptr; ///< output of tile.print; null discards it
  /// Reports two programs that write different values to one element, or one that reads what another writes.
  bool checkRaces = false;
  /// Reports reads of elements of a buffer that is not `initialized` before the kernel has written them.
  bool checkUninitialized = false;
  /// Reports signed overflow of additions, subtractions and multiplications.
  bool checkOverflow = false;
  Observer *observer = nullptr;
  /// If set, only the accesses of this operation are checked for bounds. In all other operations, loads outside a
  /// buffer give zero, and stores outside a buffer have no effect.
  mlir::Operation *watched = nullptr;
  /// If set, only this program of the grid runs.
  std::optional<std::array<uint32_t, 3>> only = {};
  /// Called before each program, and now and then in loops, with the number of programs that have ended and of all
  /// programs. Returning false stops the run with an error.
  std::function<bool(uint64_t ended, uint64_t programs)> shouldContinue = {};
};

/// Formats the innermost source position of a location as `file:line:column`; empty if it has none.
std::string positionOf(mlir::Location location);

/// An error with its location.
struct Error {
  std::string message;
  mlir::Location location;
  std::optional<std::array<uint32_t, 3>> program;  ///< grid coordinates; nullopt if found before any program ran
  std::optional<llvm::SmallVector<int64_t>> index; ///< index of the tensor element; nullopt for scalars

  /// Formats `file:line:column: error: message; in program (x, y, z), element [i, j]; called at file:line:column`.
  std::string toString() const;
};

struct ProgramImpl;

/// A kernel that is ready to run. Refers to the kernel's operations: keep the module alive.
class Program {
public:
  struct Result;
  /// Compiles a kernel. With `keepValues`, every value keeps its slot after its last use, so that an observer can show
  /// it; this takes more memory.
  static Result compile(KernelOp kernel, bool keepValues = false);

  std::optional<Error> run(Grid grid, llvm::ArrayRef<Argument> arguments, llvm::ArrayRef<Buffer> buffers,
                           const Options &options = {}) const;

private:
  std::shared_ptr<const ProgramImpl> impl;
};

/// Exactly one of the two is present.
struct Program::Result {
  std::optional<Program> program;
  std::optional<Error> error;
};

/// Compiles and runs in one call; nullopt on success.
std::optional<Error> run(KernelOp kernel, Grid grid, llvm::ArrayRef<Argument> arguments, llvm::ArrayRef<Buffer> buffers,
                         const Options &options = {});

} // namespace tile::interp
