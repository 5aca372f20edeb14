// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls that `tile-run tune` measures: a single call, those listed in a file, or a sample from ranges.
//
//   M=4096 N=4096 K=4096                 a single call
//   --shapes FILE                        one call per line: M=16 N=4096 K=4096   # comment
//   M=1..4096 N=64..8192 K=4096          --count calls with log-uniformly distributed sizes
//
// In every other sampled call, sizes are multiples of 16 if the range contains any. Kernels have variants for aligned
// rows, which random sizes would almost never select.
#pragma once

#include "Runner/Inputs/Arguments.h"

namespace tile::runner {

/// The arguments of a call, each as name=value.
using CallArguments = std::vector<std::string>;

struct ShapeRequest {
  std::vector<std::string> arguments; ///< arguments of all calls; may contain ranges
  std::string file;
  int count = 100; ///< number of sampled calls
  uint64_t seed = 0;
};

/// Returns distinct calls, in an order that depends only on the request.
Result<std::vector<CallArguments>> listShapes(const ShapeRequest &request, const Manifest &general);

/// The share of one process: part `index` (from 0) of `count`.
struct Shard {
  size_t index = 0, count = 1;
  bool has(size_t shape) const { return shape % count == index; }
};
/// Parses a shard such as "2/8", the second of eight.
Result<Shard> parseShard(std::string_view text);

/// Parses a list of distinct GPU ordinals such as "0,1".
Result<std::vector<int>> parseDevices(std::string_view text);

} // namespace tile::runner
