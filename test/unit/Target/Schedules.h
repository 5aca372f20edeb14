// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The measurements that the cost model's constants come from, of one H200: bench/results/h200/schedules.tsv, 14 shapes
// by 15 GEMM schedules of another library, of which only rows are read whose tile this compiler can build, and
// tiles.tsv, this compiler's own kernels. All of a row-major a and a column-major b.
#pragma once

#include "Target/CostModel.h"

#include <string>

namespace tile::target {

struct Measurement {
  GemmConfig config; ///< tile and warps as measured; stages and group as this compiler would choose them
  bool pingPong;
  double microseconds; ///< cuBLAS's median for the shape over the measured ratio, so that the card's drift drops out
  double ratio;        ///< cuBLAS's time over this one's
};

struct MeasuredShape {
  std::string name; ///< "512x8192x8192"
  GemmProblem problem;
  std::vector<Measurement> rows;

  double bestRatio() const;
  /// The best that was measured with this tile, or nothing.
  std::optional<double> ratioOf(const GemmConfig &config) const;
};

/// Empty if the file cannot be read, like those of readTiles().
std::vector<MeasuredShape> readSchedules(const std::string &path);

/// The records of the file that bench/suites/tiles.sh describes.
std::vector<MeasuredShape> readTiles(const std::string &path);

} // namespace tile::target
