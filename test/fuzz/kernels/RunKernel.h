// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel on one device, in this process: compiled, launched as its directives say, and the buffers afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tile::fuzz {

/// A way to compute what a kernel computes.
struct Variant {
  std::string device = "interp"; ///< or sim, or cuda
  std::string target = "sm_90a";
  unsigned optLevel = 2;
  std::string disabled;    ///< a pass, or ""
  uint64_t order = 0;      ///< in which the simulator's warps go on
  int multiprocessors = 0; ///< of the simulator; 0: as many as it has by default
  bool promises = false;   ///< divisors of the launch's integers are promised, as `tilec run` does
  bool instrument = false; ///< the kernel records times, in a buffer of its own
  bool debug = false;      ///< the kernel checks its conditions

  std::string name() const;
};

struct BufferContents {
  std::string name;
  std::string type; ///< f16
  std::vector<uint8_t> bytes;
};

struct RunResult {
  enum class State { Done, Rejected, Failed };
  State state = State::Done;
  std::string message; ///< of the compiler or the device
  std::vector<BufferContents> buffers;
  bool isRounded = false; ///< a mutant of a real kernel, whose sums depend on their order
};

RunResult runKernel(const std::string &text, const Variant &variant);

/// The first difference between the buffers of two runs; "" if there is none.
std::string compareRuns(const RunResult &expected, const RunResult &actual);

/// Passes that may be left out.
std::vector<std::string> optionalPasses();

/// Files NAME.bin in `folder` with what the inputs of the kernel are filled with. Returns NAME=FILE words.
std::string writeInputs(const std::string &text, const std::string &folder);

} // namespace tile::fuzz
