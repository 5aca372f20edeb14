// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches a kernel with random sizes, see SoakLoop.h.
//
//   $ tile-run soak gemm.cubin M=1..4096 N=64 --seconds=60
//   soak: 1250 launches in 60.0 s passed; M=1..4096 K=1..2048 lda=multiples of 8 ...; largest error 2.1e-04
//
// What is drawn (planSoak): integers without a value, from a range; a stride is its default, rounded up to what the
// kernel assumes, sometimes with padding. Other defaults follow the sizes. Small sizes, and those beside multiples of
// 64, are drawn more often: that is where tiles end. The seed decides everything; a failure prints the command for that
// launch.
//
// Of an artifact with several variants, every other launch is for one of them, drawn at random: sizes that it promises,
// and it is forced. The others have any sizes, and addresses that are not aligned, and take what a launch takes.
#pragma once

#include "Runner/Soak/SoakLoop.h"

namespace tile::runner {

struct SoakPlan {
  struct Size {
    std::string name;
    int64_t low = 0, high = 0; ///< multiples of `divisor`
    int64_t divisor = 1;
  };
  struct Stride {
    std::string name;
    int64_t divisor = 1;
    bool isPadded = false;
  };
  std::vector<Size> sizes;
  std::vector<Stride> strides;
  std::vector<std::string> fixed; ///< arguments that are the same in all launches
};

Result<SoakPlan> planSoak(const std::vector<std::string> &arguments, const runtime::Manifest &manifest);

/// A plan for calls that a variant serves, by what it promises. `general` has all parameters; those that `variant`
/// lacks get its constants, unless the arguments say otherwise.
Result<SoakPlan> planVariant(const std::vector<std::string> &arguments, const runtime::Manifest &variant,
                             const runtime::Manifest &general);

/// The arguments of launch number `launch`.
Result<std::vector<std::string>> drawArguments(const SoakPlan &plan, const runtime::Manifest &manifest, uint64_t seed,
                                               uint64_t launch, int numSms);

/// Prints and returns the exit code. A hang ends the process.
int runSoak(const SoakOptions &options, const runtime::Artifact &artifact);

} // namespace tile::runner
