// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares the results of two kernels, or of one kernel on two devices, for the same calls.
//
//   Agreement agreement(plan, first, second, options);
//   Result<AgreementResult> result = agreement.run();
//   result->difference      "c[3, 5] is 0.5 on sim and 0.25 on cuda", for a shrunk call
//
// Any two devices can be compared: interpreter, simulator, GPU.
#pragma once

#include "Lab/Verify/Trials.h"
#include "Runner/Run.h"

namespace tile::runner {

/// A kernel on a device.
struct Side {
  std::string name; ///< for reports: "sim", "cuda:0 NVIDIA H200", "softmax of b.tile"
  const Manifest *manifest = nullptr;
  Device *device = nullptr;
  /// Converts arguments of the common parameters to those of this kernel.
  std::function<std::vector<std::string>(const std::vector<std::string> &)> adapt;
};

struct AgreementOptions {
  RunOptions run; ///< grid, seed, offsets, and the time limit of the whole comparison
  uint64_t trials = 12;
  std::vector<InputKind> inputs = {InputKind::Random, InputKind::Special, InputKind::Denormals, InputKind::Zeros};
  /// Returns the allowed error of an output, relative to the element and to the root mean square of the buffer. An
  /// error of 0 requires the same bits, except that all NaNs are equal.
  std::function<double(const Parameter &output)> within;
};

/// A difference between the results of one call.
struct Difference {
  std::string buffer; ///< name; empty if one of the two runs failed
  std::vector<int64_t> index;
  std::string first, second; ///< values, or "runs" and the error
  int64_t count = 0;         ///< number of elements that differ
  int64_t elements = 0;
  TrialCall call;

  /// Returns "c[3, 5] is 0.5 on sim and 0.25 on cuda; 12 of 64 elements differ".
  std::string text(const std::string &firstName, const std::string &secondName) const;
};

struct AgreementResult {
  uint64_t compared = 0, failing = 0; ///< number of calls, and number of calls for which both kernels report an error
  std::optional<Difference> difference;
  std::string firstFailure; ///< error of a call for which both kernels fail
  bool isTimeOver = false;
};

class Agreement {
public:
  Agreement(const TrialPlan &plan, Side first, Side second, const AgreementOptions &options)
      : plan(plan), first(std::move(first)), second(std::move(second)), options(options) {}

  /// Compares the results of all trials. `admits` checks additional conditions of a call.
  Result<AgreementResult> run(const Admission &admits = {});

private:
  /// Results of one run.
  struct Outcome {
    std::string failure; ///< an error that the device found in the kernel; empty if there is none
    std::map<std::string, HostBuffer> outputs;
  };
  RunOptions optionsFor(const Side &side, const TrialCall &call) const;
  Result<Outcome> runOn(const Side &side, const TrialCall &call) const;
  Result<std::optional<Difference>> compare(const Trial &trial, AgreementResult &result) const;
  Status admit(const TrialCall &call, const Admission &admits) const;

  const TrialPlan &plan;
  Side first, second;
  const AgreementOptions &options;
};

/// Returns the first difference between two buffers of one type and shape, in row-major order.
std::optional<Difference> findDifference(const HostBuffer &first, const HostBuffer &second, double within);

} // namespace tile::runner
