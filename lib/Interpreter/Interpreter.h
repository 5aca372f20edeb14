// Reference interpreter: runs a kernel of the tile dialect (phase *tile*, no encodings) on host memory.
//
// `Program::compile` translates the kernel once into vector instructions over a register file; `Program::run` executes
// every program of a grid, in grid order (x fastest), on one thread, with the same result on every machine.
// Every pointer carries the buffer it was derived from, so an access outside that buffer is an error, also where the
// address happens to lie in another one. README.md of this folder states what is defined beyond the dialect's text.
#pragma once

#include "Tile/TileDialect.h"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace tile::interp {

/// Memory of the caller that a kernel may access.
struct Buffer {
  void *data = nullptr;
  size_t bytes = 0;
  std::string name;
};

/// Value of one kernel parameter: a pointer into a buffer, or the bits of a scalar.
struct Argument {
  int buffer = -1;    ///< index into the launch's buffers, -1 for a scalar
  int64_t offset = 0; ///< bytes from the buffer's start
  uint64_t bits = 0;  ///< the scalar's bits in the width of the parameter's type; higher bits are ignored
  llvm::SmallVector<int64_t, 5> shape, strides; ///< of a descriptor parameter, in elements

  static Argument pointer(int buffer, int64_t offset = 0);
  static Argument bitsOf(uint64_t bits);
  static Argument integer(int64_t value) { return bitsOf(uint64_t(value)); }
  static Argument f32(float value);
  static Argument f64(double value);
};

struct Grid {
  uint32_t x = 1, y = 1, z = 1;
};

struct Options {
  llvm::raw_ostream *prints = nullptr; ///< where tile.print writes; null drops the text
};

/// What went wrong, and where.
struct Error {
  std::string message;
  mlir::Location location;
  std::optional<std::array<uint32_t, 3>> program;  ///< grid coordinates, absent if found before any program ran
  std::optional<llvm::SmallVector<int64_t>> index; ///< of the tensor element, absent for scalars

  /// `file:line:column: error: message; in program (x, y, z), element [i, j]`
  std::string toString() const;
};

struct ProgramImpl;

/// A kernel ready to run. Refers to the kernel's operations: keep the module alive.
class Program {
public:
  struct Result;
  static Result compile(KernelOp kernel);

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

/// Compiles and runs in one call; nothing on success.
std::optional<Error> run(KernelOp kernel, Grid grid, llvm::ArrayRef<Argument> arguments, llvm::ArrayRef<Buffer> buffers,
                         const Options &options = {});

} // namespace tile::interp
