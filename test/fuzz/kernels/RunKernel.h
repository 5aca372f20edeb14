// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one kernel on one device in this process: compiles it, launches it according to its directives, and returns the
// buffers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tile::fuzz {

/// A way to compute the results of a kernel.
struct Variant {
  std::string device = "interp"; ///< interp, sim or cuda
  std::string target = "sm_90a";
  unsigned optLevel = 2;
  std::string disabled;    ///< a pass to skip, or ""
  uint64_t order = 0;      ///< seed of the simulator's order of events
  int multiprocessors = 0; ///< SMs of the simulator; 0: the default number
  bool promises = false;   ///< assume the divisors of the launch's integers, as `tilec run` does
  bool instrument = false; ///< the kernel records times in an additional buffer
  bool debug = false;      ///< the kernel checks its conditions

  std::string name() const;
};

struct BufferContents {
  std::string name;
  std::string type; ///< such as f16
  std::vector<uint8_t> bytes;
};

struct RunResult {
  enum class State { Done, Rejected, Failed };
  State state = State::Done;
  std::string message; ///< error of the compiler or the device
  std::vector<BufferContents> buffers;
  bool isRounded = false; ///< for mutants of real kernels, whose sums depend on the order
};

RunResult runKernel(const std::string &text, const Variant &variant);

/// Returns the first difference between the buffers of two runs; "" if there is none.
std::string compareRuns(const RunResult &expected, const RunResult &actual);

/// Returns the passes that may be skipped.
std::vector<std::string> optionalPasses();

/// Writes files NAME.bin to `folder` with the contents of the kernel's inputs. Returns NAME=FILE words.
std::string writeInputs(const std::string &text, const std::string &folder);

} // namespace tile::fuzz
