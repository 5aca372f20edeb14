// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that tile-run has inside.
#pragma once

#include <string_view>

namespace tile::runner::assets {

extern const std::string_view page;    ///< the frame of a page of charts
extern const std::string_view style;   ///< CSS
extern const std::string_view charts;  ///< what the charts show
extern const std::string_view echarts; ///< the library that draws them

} // namespace tile::runner::assets
