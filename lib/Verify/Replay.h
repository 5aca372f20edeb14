// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a counterexample in the interpreter. Only counterexamples that the interpreter confirms are reported as errors.
//
// Buffers have the declared sizes, up to the memory of a GPU; pages that no program touches take no memory. Integers in
// buffers are 0. Floats differ from element to element, so that two programs that write the same element write
// different values.
#pragma once

#include "Interpreter/Interpreter.h"
#include "Runtime/Manifest.h"

#include <array>
#include <map>

namespace tile::verify {

/// The arguments of a launch, and one of its programs.
struct Example {
  std::map<std::string, int64_t> arguments;
  std::array<uint32_t, 3> program = {0, 0, 0};
  int sms = 1;
  std::array<int64_t, 3> grid = {1, 1, 1}; ///< grid, if the manifest has none
};

class Replay {
public:
  /// An iteration of a loop around an operation, counted from 0.
  struct Iteration {
    mlir::Operation *loop;
    int64_t number;
  };

  Replay(KernelOp kernel, const runtime::Manifest &manifest) : kernel(kernel), manifest(manifest) {}

  /// Runs the program of the example, checks only the accesses of `op`, and returns the interpreter's error. If there
  /// is no error and the grid is small, tries the other programs, because the verifier does not know which program of a
  /// swizzle gets which tile. Returns nullopt if there is no error, or if the run takes too long.
  std::optional<interp::Error> runProgram(const Example &example, mlir::Operation *op);
  /// Returns the iterations in which the last run ended, for the loops around `op`, outermost first.
  const std::vector<Iteration> &lastIterations() const { return iterations; }
  /// Runs all programs. Returns the first race or other error.
  std::optional<interp::Error> runGrid(const Example &example);
  /// Returns the index of an element of an output that no program writes; nullopt if there is none, or if the run
  /// fails.
  std::optional<std::vector<int64_t>> findUnwritten(const Example &example, const std::string &output);

private:
  enum class Programs { One, Few, Many };
  /// A buffer that is filled with a given byte before a run, and whose contents are kept after it.
  struct Kept {
    std::string buffer;
    uint8_t byte = 0;
    std::vector<uint8_t> contents = {};
    std::vector<int64_t> shape = {}, strides = {};
    unsigned size = 0;   ///< size of an element
    bool hasRun = false; ///< true if the run had no error
  };
  /// If `watched` is not null, checks only the accesses of this operation.
  std::optional<interp::Error> run(const Example &example, Programs programs, mlir::Operation *watched,
                                   Kept *kept = nullptr);

  KernelOp kernel;
  const runtime::Manifest &manifest;
  std::optional<interp::Program> compiled;
  std::vector<Iteration> iterations;
};

} // namespace tile::verify
