// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls that `tile-run tune` measures: one, those of a file, or a sample of ranges.
//
//   M=4096 N=4096 K=4096                 one
//   --shapes FILE                        one per line: M=16 N=4096 K=4096   # comment
//   M=1..4096 N=64..8192 K=4096          --count of them, with log-uniform sizes
//
// Every other sampled call has sizes that are multiples of 16, if the range contains any: kernels have variants for
// aligned rows, which random sizes would almost never match.
#pragma once

#include "Runner/Inputs/Arguments.h"

namespace tile::runner {

/// Arguments, name=value.
using CallArguments = std::vector<std::string>;

struct ShapeRequest {
  std::vector<std::string> arguments; ///< arguments of all calls; may contain ranges
  std::string file;
  int count = 100; ///< size of a sample
  uint64_t seed = 0;
};

/// Returns distinct calls, in an order that depends only on the request.
Result<std::vector<CallArguments>> listShapes(const ShapeRequest &request, const Manifest &general);

/// The share of a process: part `index` (from 0) of `count`.
struct Shard {
  size_t index = 0, count = 1;
  bool has(size_t shape) const { return shape % count == index; }
};
/// Parses "2/8", the second of eight.
Result<Shard> parseShard(std::string_view text);

/// Parses "0,1": distinct GPU ordinals.
Result<std::vector<int>> parseDevices(std::string_view text);

} // namespace tile::runner
