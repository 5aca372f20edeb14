// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one variant in the simulator with several sizes under several orders of events. Finds races, deadlocks, missing
// waits, accesses out of bounds, wrong results, and results that depend on the order.
//
//   ScheduleTrial schedules(variant, options);
//   while (!schedules.isDone()) schedules.runNext();
//   schedules.verdict()
//
// The first runs try each size once, each with a different order; further runs repeat the sizes with other orders. Then
// more and larger sizes are tried, up to a limit, while some instruction has not been reached.
#pragma once

#include "Lab/Verify/TestedVariant.h"
#include "Lab/Verify/Verdict.h"
#include "Runner/Device/SimDevice.h"
#include "Runner/Run.h"

namespace tile::runner {

struct ScheduleOptions {
  RunOptions run;
  uint64_t trials = 4; ///< number of sizes to try
  uint64_t orders = 3; ///< number of orders for each size
  uint64_t most = 8;   ///< number of further sizes
};

/// Records which instructions of a kernel have been issued.
class Coverage;

class ScheduleTrial {
public:
  /// Keeps references to both arguments.
  ScheduleTrial(const TestedVariant &variant, const ScheduleOptions &options);
  ~ScheduleTrial();

  bool isDone() const;
  /// Performs one run. Fails if the time limit has expired, or if the variant cannot be run at all.
  Status runNext();
  Verdict verdict() const;

private:
  struct Tried {
    Trial trial;
    std::string outputs; ///< hash of the outputs of the first run
  };
  /// Returns the problem that the run found, or an empty string.
  Result<std::string> runTrial(const Trial &trial, uint64_t order, std::string *outputs);
  /// Shrinks the sizes of a failing call.
  void shrink(const Trial &failing, uint64_t order);
  void reportProblem(const Trial &trial, uint64_t order, std::string problem);
  Status tryMore();

  const TestedVariant &variant;
  const ScheduleOptions &options;
  std::unique_ptr<Coverage> coverage;
  std::vector<Tried> tried;
  uint64_t next = 0; ///< number of the next run
  Verdict state;
};

} // namespace tile::runner
