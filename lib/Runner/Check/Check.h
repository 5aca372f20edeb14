// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares an output with the manifest's expectation.
//
// passes when  ||out - ref|| <= tolerance * ||ref||                                 the contract of `within`
//         and  |out - ref| <= tolerance * (|ref| + 10 * rms(ref)) for every element  a single wrong element in a large
//                                                                                    matrix does not move the norm
//         and  an element is NaN only where the reference is, and infinite only where the reference is so, or is beyond
//              the numbers of the output's type; a NaN that was there before the launch is not the kernel's.
//
// Large references are sampled: when one needs more than 4e9 operations, of products or for intermediate results, 64
// random rows and columns and the first and last of each are compared instead of everything.
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
  int64_t elements = 0; ///< of the output
  int64_t compared = 0; ///< less than `elements` when sampled
  std::string sampling; ///< "66 rows and 66 columns", or ""
  double maxAbsError = 0;
  double relativeError = 0; ///< of the norms
  int64_t wrongCount = 0;
  std::vector<WrongElement> firstWrong; ///< at most five
};

/// `names` holds the buffers as they were before the launch; `output` is the one after it.
Result<CheckResult> checkOutput(const runtime::Expectation &expectation, const TensorNames &names,
                                const HostBuffer &output, const std::optional<TimeLimit> &limit = {});

/// The same comparison with recorded values, of the same shape; `source` is the report's word for them.
Result<CheckResult> checkRecorded(const std::string &buffer, const HostBuffer &recorded, const std::string &source,
                                  double tolerance, const HostBuffer &output);

/// Parses and binds only: whether the expectation fits the buffers.
Status validateExpectation(const runtime::Expectation &expectation, const TensorNames &names, const HostBuffer &output);

} // namespace tile::runner
