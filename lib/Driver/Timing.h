// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Wall-clock time by phase and by pass, for --time-passes.
//
//    Seconds  Share  Phase
//     0.0021    8 %  frontend
//     0.0043   16 %  passes
//     0.0011           cta-assign-layouts
//     ...
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <string>
#include <vector>

namespace tile::driver {

class Timing {
public:
  using Clock = std::chrono::steady_clock;

  /// Measures the time from its construction to its destruction.
  class Scope {
  public:
    Scope(Timing &timing, llvm::StringRef phase);
    ~Scope();
    Scope(const Scope &) = delete;

  private:
    Timing &timing;
    size_t row;
    Clock::time_point start;
  };

  /// Adds time to a pass of the current phase.
  void addPass(llvm::StringRef name, Clock::duration time);
  void print(llvm::raw_ostream &os) const;

  struct Slow {
    std::string name;
    double seconds;
    std::string slowestPass; ///< set if one pass took more than half of the time
  };
  /// Returns the phases that took longer than `seconds`, in order.
  std::vector<Slow> stepsOver(double seconds) const;

private:
  struct Row {
    std::string name;
    bool isPass;
    Clock::duration time;
  };
  std::vector<Row> rows;
  Clock::time_point begin = Clock::now();
};

} // namespace tile::driver
