// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that test a kernel: sizes around the ends of its tiles, and inputs of several kinds.
//
//   Result<TrialPlan> plan = TrialPlan::make(arguments, variant, general, multiprocessors);
//   Result<Trial> trial = plan->draw(3, InputKind::Special, admits);     the fourth trial
//   plan->callOf(*trial)->arguments                                      {"M=129", "N=65", "lda=72", "a=special"}
//
// Everything depends only on the kernel, the arguments and the number of the trial.
#pragma once

#include "Lab/Soak/Soak.h"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace tile::runner {

enum class InputKind { Random, Special, Denormals, Zeros };
std::string_view inputKindName(InputKind kind);
/// Adds the option --inputs.
CLI::Option *addInputKinds(CLI::App &app, std::vector<InputKind> &kinds);

struct Trial {
  std::map<std::string, int64_t> sizes;
  std::map<std::string, std::string> fills; ///< contents of buffers, as in NAME=TEXT
  bool isPadded = false;                    ///< rows are longer than needed
  bool isShifted = false;                   ///< buffers do not start at aligned addresses
  uint64_t seed = 0;
};

/// A trial in the form that tools accept: arguments, and offsets of buffers as for --offset.
struct TrialCall {
  std::vector<std::string> arguments, offsets;
  uint64_t seed = 0;
};

/// Returns success if a launch accepts the call.
using Admission = std::function<Status(const TrialCall &call)>;

class TrialPlan {
public:
  /// Plans trials of `kernel`, which has some or all of the parameters of `general`. Arguments that are given are fixed
  /// or, in the form NAME=LOW..HIGH, drawn from a range. If there is an `other`, sizes around the ends of its blocks
  /// are tried, too. `general` must outlive the plan.
  static Result<TrialPlan> make(const std::vector<std::string> &arguments, const Manifest &kernel,
                                const Manifest &general, int multiprocessors, const Manifest *other = nullptr);

  /// Keeps all buffers at aligned addresses in the trials.
  void keepAligned() { shiftable.clear(); }

  /// Draws small sizes that `admits` accepts; a larger `effort` allows larger sizes. If there are none, fails with the
  /// reason why the last sizes were rejected.
  Result<Trial> draw(uint64_t number, InputKind kind, uint64_t seed, const Admission &admits, double effort = 1) const;
  Result<TrialCall> callOf(const Trial &trial) const;

  /// Returns the smallest failing trial that is found before `isOver` returns true. First makes sizes smaller, then
  /// strides tight and inputs simple.
  Trial shrink(Trial failing, const std::function<bool(const Trial &)> &fails,
               const std::function<bool()> &isOver) const;

private:
  TrialPlan(const Manifest &general, SoakPlan sizes, int multiprocessors)
      : general(&general), plan(std::move(sizes)), multiprocessors(multiprocessors) {}
  void listCandidates(const Manifest &kernel, const Manifest *other);
  /// Returns the cost of a call: the number of elements of all buffers, plus a fixed cost for each program.
  Result<double> costOf(const std::vector<std::string> &arguments) const;

  const Manifest *general;
  SoakPlan plan;
  int multiprocessors;
  std::map<std::string, std::vector<int64_t>> candidates; ///< values of each size, the most relevant first
  std::vector<std::string> fillable;                      ///< buffers of floats whose contents are free
  std::vector<std::string> shiftable;                     ///< buffers for which no alignment is assumed
};

} // namespace tile::runner
