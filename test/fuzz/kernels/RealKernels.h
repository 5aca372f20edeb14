// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutants of kernels that users wrote: the same text with other sizes, constants, element types, warps, stages,
// clusters and schedules. Some start from the launch in a test's RUN line.
//
// A mutant begins with a line that says how to compile and launch it; the remainder is the file:
//   #fuzz: file=examples/softmax.tile kernel=softmax -DBLOCK=64 N=127 warps=2
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tile::fuzz {

class Random;

/// The options with which a mutant is compiled and launched. Texts are as on tilec's command line; empty means not
/// given.
struct MutantOptions {
  std::string file;
  std::string kernel;
  std::map<std::string, std::string> definitions; ///< compile-time parameters
  std::vector<std::string> arguments;             ///< NAME=VALUE
  std::string signature, cluster, schedule;
  std::optional<int> numWarps, numStages;
  bool isExact = false; ///< results are never rounded

  /// Replaces the argument of that name, or adds one.
  void setArgument(const std::string &name, const std::string &value);
};

/// Returns the options of a mutant; nothing if the text does not begin with them.
std::optional<MutantOptions> readMutantOptions(const std::string &text);

class RealKernels {
public:
  /// Finds the kernels with launch directives in the .tile files of the folders.
  explicit RealKernels(const std::vector<std::string> &folders);

  size_t size() const { return kernels.size(); }
  /// Returns the text of a mutant of one of the kernels.
  std::string mutant(uint64_t seed) const;

private:
  struct Kernel {
    std::string file, text, name;
    std::vector<std::pair<std::string, int64_t>> sizes; ///< integers with a default
    std::vector<std::string> constants;                 ///< compile-time parameters that are integers or open
    bool isFixed = false;                               ///< correct only for its original sizes
  };
  void readKernels(const std::string &file, const std::string &text);
  void readTests(const std::string &file, const std::string &text);
  static void mutateSizes(const Kernel &kernel, MutantOptions &options, Random &random);
  static void mutateConstants(const Kernel &kernel, MutantOptions &options, Random &random);

  std::vector<Kernel> kernels;
  std::vector<std::pair<size_t, MutantOptions>> launches; ///< launches from RUN lines; of which kernel
};

} // namespace tile::fuzz
