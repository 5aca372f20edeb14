// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Charts of measurements: a self-contained page, or one chart as SVG.
//
//   page   charts.html, charts.css, charts.js and the data in a frame (Page.h); a table of all figures, for browsers
//          without JavaScript
//   SVG    charts.js and ECharts, run by node if available
#pragma once

#include "Lab/Results/Results.h"

namespace tile::runner {

struct PlotRequest {
  std::vector<Measurement> measurements;
  std::string title; ///< "": names of the kernels and the device
};

std::string makePage(const PlotRequest &request);

/// Draws `chart`: "size", "roofline" or "bars". Fails without node, and if the data has no such chart.
runtime::Result<std::string> makeSvg(const PlotRequest &request, const std::string &chart, int width);

} // namespace tile::runner
