// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches a kernel repeatedly with random sizes; see SoakLoop.h.
//
//   $ tile-run soak gemm.cubin M=1..4096 N=64 --seconds=60
//   soak: 1250 launches in 60.0 s passed; M=1..4096 K=1..2048 lda=multiples of 8 ...; largest error 2.1e-04
//
// planSoak determines what is sampled. Integers without a value are sampled from a range. A stride has its default
// value, rounded up to a multiple of the divisor that the kernel assumes, and sometimes padding. Other parameters have
// their defaults, which may depend on the sizes. Small sizes and sizes near multiples of 64 are sampled more often,
// because tiles end there. All samples depend only on the seed. If a launch fails, the command that reproduces it is
// printed.
//
// For an artifact with several variants, every other launch forces a random variant, with sizes that the variant
// assumes. The remaining launches have arbitrary sizes and unaligned addresses, and use the variant that a normal
// launch would choose.
#pragma once

#include "Lab/Soak/SoakLoop.h"

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

/// The range from which sizes are sampled if the arguments do not specify them. With sizes in this range, a GEMM takes
/// milliseconds.
constexpr SizeRange soakSizes{1, 2048};

Result<SoakPlan> planSoak(const std::vector<std::string> &arguments, const runtime::Manifest &manifest,
                          SizeRange ungiven = soakSizes);

/// Plans calls that a variant accepts, based on its assumptions. `general` has all parameters. Parameters that
/// `variant` lacks are set to its constants, unless the arguments specify them.
Result<SoakPlan> planVariant(const std::vector<std::string> &arguments, const runtime::Manifest &variant,
                             const runtime::Manifest &general, SizeRange ungiven = soakSizes);

/// Adds arguments for the strides: their defaults, with `paddingOf(stride)` steps of padding.
Status addStrides(const SoakPlan &plan, const runtime::Manifest &manifest, int numSms,
                  const std::function<int64_t(const SoakPlan::Stride &)> &paddingOf,
                  std::vector<std::string> &arguments);

/// Returns the arguments of launch number `launch`, which satisfy the requirements of the manifest.
Result<std::vector<std::string>> drawArguments(const SoakPlan &plan, const runtime::Manifest &manifest, uint64_t seed,
                                               uint64_t launch, int numSms);

/// Runs the soak, prints the result and returns the exit code. If a launch hangs, the process ends.
int runSoak(const SoakOptions &options, const runtime::Artifact &artifact);

} // namespace tile::runner
