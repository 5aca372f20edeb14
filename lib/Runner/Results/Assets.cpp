// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The assembler reads the files; CMake says where they are, and that this object depends on them.
#include "Runner/Results/Assets.h"

#define EMBED(name, file)                                                                                              \
  asm(".section .rodata\n"                                                                                             \
      "tile_asset_" #name ":\n"                                                                                        \
      ".incbin \"" TILE_PAGE_FOLDER "/" file "\"\n"                                                                    \
      "tile_asset_" #name "_end:\n"                                                                                    \
      ".byte 0\n"                                                                                                      \
      ".previous\n");                                                                                                  \
  extern "C" const char tile_asset_##name[], tile_asset_##name##_end[];                                                \
  const std::string_view tile::runner::assets::name(tile_asset_##name,                                                 \
                                                    static_cast<size_t>(tile_asset_##name##_end - tile_asset_##name));

EMBED(page, "page.html")
EMBED(style, "page.css")
EMBED(charts, "charts.js")
EMBED(echarts, "echarts.js")
