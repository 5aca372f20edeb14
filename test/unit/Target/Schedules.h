// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The measurements on one H200 to which the cost model is fitted: bench/results/h200/schedules.tsv with 14 shapes by 15
// GEMM schedules of another library, of which only rows with tiles that this compiler can build are read; and tiles.tsv
// with this compiler's kernels. a is row-major and b column-major in all of them.
#pragma once

#include "Target/CostModel.h"

#include <string>

namespace tile::target {

struct Measurement {
  GemmConfig config; ///< tile and warps as measured; stages and group as this compiler would choose them
  bool pingPong;
  double microseconds; ///< cuBLAS's median for the shape divided by the measured ratio, so that clock drift cancels
  double ratio;        ///< cuBLAS's time divided by this one
};

struct MeasuredShape {
  std::string name; ///< "512x8192x8192"
  GemmProblem problem;
  std::vector<Measurement> rows;

  double bestRatio() const;
  /// Returns the best measurement with this tile, or nothing.
  std::optional<double> ratioOf(const GemmConfig &config) const;
};

/// Returns an empty list if the file cannot be read; so does readTiles().
std::vector<MeasuredShape> readSchedules(const std::string &path);

/// Returns the records of the file that bench/suites/tiles.sh describes.
std::vector<MeasuredShape> readTiles(const std::string &path);

} // namespace tile::target
