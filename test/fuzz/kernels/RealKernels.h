// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutants of kernels that users wrote: the same text with other sizes, constants, element types, warps and stages.
//
// A mutant begins with a line that says how to compile and launch it; the rest is the file:
//   #fuzz: file=examples/softmax.tile kernel=softmax -DBLOCK=64 N=127 warps=2
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tile::fuzz {

/// How a mutant is compiled and launched.
struct MutantOptions {
  std::string file;
  std::string kernel;
  std::map<std::string, std::string> definitions;  ///< compile-time parameters
  std::vector<std::string> arguments;              ///< NAME=VALUE
  std::optional<int> numWarps, numStages, cluster; ///< CTAs of a cluster, along the first axis
  bool isPingPong = false;
};

/// Returns the options of a mutant; nothing if the text does not begin with them.
std::optional<MutantOptions> readMutantOptions(const std::string &text);

class RealKernels {
public:
  /// Finds the kernels that say how they are launched in the .tile files of the folders.
  explicit RealKernels(const std::vector<std::string> &folders);

  size_t size() const { return kernels.size(); }
  /// Returns the text of a mutant of one of the kernels.
  std::string mutant(uint64_t seed) const;

private:
  struct Kernel {
    std::string file, text, name;
    std::vector<std::pair<std::string, int64_t>> sizes; ///< integers with a default
    std::vector<std::string> constants;                 ///< compile-time parameters that are integers or open
    bool isFixed = false;                               ///< right for its own sizes only
  };
  std::vector<Kernel> kernels;
};

} // namespace tile::fuzz
