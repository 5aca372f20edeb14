// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls that `tile-run tune` measures: one, those of a file, or a sample of ranges.
//
//   M=4096 N=4096 K=4096                 one
//   --shapes FILE                        a line each: M=16 N=4096 K=4096   # comment
//   M=1..4096 N=64..8192 K=4096          --count of them, sizes uniform in their logarithms
//
// Every other sampled call has sizes that are multiples of 16 where the range has any: kernels have variants for rows
// that are aligned, which random sizes would hardly ever meet.
#pragma once

#include "Runner/Inputs/Arguments.h"

namespace tile::runner {

/// Arguments, name=value.
using CallArguments = std::vector<std::string>;

struct ShapeRequest {
  std::vector<std::string> arguments; ///< of all calls; may have ranges
  std::string file;
  int count = 100; ///< of a sample
  uint64_t seed = 0;
};

/// Without repetitions, in an order that depends on the request alone.
Result<std::vector<CallArguments>> listShapes(const ShapeRequest &request, const Manifest &general);

/// Part `index` (from 0) of `count`.
struct Shard {
  size_t index = 0, count = 1;
  bool has(size_t shape) const { return shape % count == index; }
};
/// "2/8" is the second of eight.
Result<Shard> parseShard(std::string_view text);

/// "0,1": numbers of GPUs, each once.
Result<std::vector<int>> parseDevices(std::string_view text);

} // namespace tile::runner
