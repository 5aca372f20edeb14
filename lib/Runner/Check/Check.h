// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares an output with the expectation in the manifest.
//
// A comparison passes if
//   ||out - ref|| <= tolerance * ||ref||                                  (the contract of `within`), and
//   |out - ref| <= tolerance * (|ref| + 10 * rms(ref)) for every element  (a single wrong element in a large matrix
//                                                                          hardly changes the norm), and
//   an element is NaN only if the reference is NaN, and infinite only if the reference is infinite or exceeds the range
//   of the output's type. A NaN that the element contained before the launch does not count as a result of the kernel.
//
// Large references are sampled: if a reference needs more than 4e9 operations, in matrix multiplications or for
// intermediate results, only the first, the last and 64 random rows and columns are compared.
#pragma once

#include "Runner/Check/TensorExpr.h"
#include "Runner/LongWork.h"

namespace tile::runner {

struct WrongElement {
  std::vector<int64_t> index;
  double expected = 0;
  double actual = 0;
};

struct CheckResult {
  std::string buffer;
  std::string expression;
  double tolerance = 0;
  bool passed = false;
  int64_t elements = 0; ///< elements of the output
  int64_t compared = 0; ///< fewer than `elements` if the output is sampled
  std::string sampling; ///< "66 rows and 66 columns", or ""
  double maxAbsError = 0;
  double relativeError = 0; ///< relative error of the norm
  int64_t wrongCount = 0;
  std::vector<WrongElement> firstWrong; ///< at most five
};

/// Checks an output. `names` contains the buffers before the launch, and `output` is the buffer after it.
Result<CheckResult> checkOutput(const runtime::Expectation &expectation, const TensorNames &names,
                                const HostBuffer &output, const std::optional<TimeLimit> &limit = {});

/// Does the same as checkOutput(), but compares with recorded values of the same shape. `source` names these values in
/// the report.
Result<CheckResult> checkRecorded(const std::string &buffer, const HostBuffer &recorded, const std::string &source,
                                  double tolerance, const HostBuffer &output);

/// Parses and binds an expectation without evaluating it, to check that it fits the buffers.
Status validateExpectation(const runtime::Expectation &expectation, const TensorNames &names, const HostBuffer &output);

} // namespace tile::runner
