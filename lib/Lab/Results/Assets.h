// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files embedded in tile-run.
#pragma once

#include <string_view>

namespace tile::runner::assets {

extern const std::string_view frame;       ///< HTML frame shared by all pages
extern const std::string_view base;        ///< CSS shared by all pages
extern const std::string_view chartsBody;  ///< body of a page with measurements
extern const std::string_view chartsStyle; ///< CSS of a page with measurements
extern const std::string_view charts;      ///< script of a page with measurements
extern const std::string_view echarts;     ///< the chart library

} // namespace tile::runner::assets
