// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Embeds files in a tool. The assembler reads the files from TILE_PAGE_FOLDER. CMake defines that folder and makes the
// object depend on the files.
//
//   TILE_EMBED(static const std::string_view body, tile_explain_body, "body.html")
#pragma once

#include <string_view>

#define TILE_EMBED(variable, symbol, file)                                                                             \
  asm(".section .rodata\n" #symbol ":\n"                                                                               \
      ".incbin \"" TILE_PAGE_FOLDER "/" file "\"\n" #symbol "_end:\n"                                                  \
      ".byte 0\n"                                                                                                      \
      ".previous\n");                                                                                                  \
  extern "C" const char symbol[], symbol##_end[];                                                                      \
  variable(symbol, static_cast<size_t>(symbol##_end - symbol));
