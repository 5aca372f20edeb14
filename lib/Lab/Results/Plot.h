// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Charts of measurements, as a self-contained page or as SVG with one chart.
//
//   page   charts.html, charts.css, charts.js and the data in a frame (Page.h); for browsers without JavaScript,
//          a table of all figures
//   SVG    drawn by charts.js and ECharts in node, if available
#pragma once

#include "Lab/Results/Results.h"

namespace tile::runner {

struct PlotRequest {
  std::vector<Measurement> measurements;
  std::string title; ///< "": composed from the names of the kernels and the device
};

std::string makePage(const PlotRequest &request);

/// Draws `chart`: "size", "roofline" or "bars". Fails if node is missing or the data is not suitable for this chart.
runtime::Result<std::string> makeSvg(const PlotRequest &request, const std::string &chart, int width);

} // namespace tile::runner
