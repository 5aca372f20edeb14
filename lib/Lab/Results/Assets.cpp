// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Results/Assets.h"

#include "Lab/Results/Embed.h"

namespace tile::runner::assets {

TILE_EMBED(const std::string_view frame, tile_asset_frame, "frame.html")
TILE_EMBED(const std::string_view base, tile_asset_base, "base.css")
TILE_EMBED(const std::string_view chartsBody, tile_asset_charts_body, "charts.html")
TILE_EMBED(const std::string_view chartsStyle, tile_asset_charts_style, "charts.css")
TILE_EMBED(const std::string_view charts, tile_asset_charts, "charts.js")
TILE_EMBED(const std::string_view echarts, tile_asset_echarts, "echarts.js")

} // namespace tile::runner::assets
