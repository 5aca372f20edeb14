// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that tile-run has inside.
#pragma once

#include <string_view>

namespace tile::runner::assets {

extern const std::string_view frame;       ///< of all pages
extern const std::string_view base;        ///< CSS of all pages
extern const std::string_view chartsBody;  ///< of a page of measurements
extern const std::string_view chartsStyle; ///< its CSS
extern const std::string_view charts;      ///< its script
extern const std::string_view echarts;     ///< the library that draws charts

} // namespace tile::runner::assets
