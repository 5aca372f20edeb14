// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The document in a page. The assembler reads the page's files; CMake says where they are, and that this object depends
// on them. The library that draws charts is the one of tile-run plot.
#include "Explain/Simulation.h"
#include "Runner/Results/Assets.h"

#define EMBED(name, file)                                                                                              \
  asm(".section .rodata\n"                                                                                             \
      "tile_explain_" #name ":\n"                                                                                      \
      ".incbin \"" TILE_PAGE_FOLDER "/" file "\"\n"                                                                    \
      "tile_explain_" #name "_end:\n"                                                                                  \
      ".byte 0\n"                                                                                                      \
      ".previous\n");                                                                                                  \
  extern "C" const char tile_explain_##name[], tile_explain_##name##_end[];                                            \
  static const std::string_view name(tile_explain_##name,                                                              \
                                     static_cast<size_t>(tile_explain_##name##_end - tile_explain_##name));

EMBED(frame, "page.html")
EMBED(style, "page.css")
EMBED(script, "script.js")

namespace tile::explain {

static std::string escape(std::string_view text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
  return escaped;
}

/// "<" of a document may end the script element that it is in, or begin a comment there.
static std::string escapeJson(std::string_view text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '<' ? "\\u003c" : std::string(1, c);
  return escaped;
}

std::string makePage(const std::string &document, const std::string &title) {
  const std::pair<std::string_view, std::string> parts[] = {{"TITLE", escape(title)},
                                                            {"STYLE", std::string(style)},
                                                            {"DATA", escapeJson(document)},
                                                            {"ECHARTS", std::string(runner::assets::echarts)},
                                                            {"SCRIPT", std::string(script)}};
  std::string page;
  for (std::string_view rest = frame; !rest.empty();) {
    const size_t at = rest.find('@'), end = at == rest.npos ? rest.npos : rest.find('@', at + 1);
    page += rest.substr(0, at);
    if (end == rest.npos)
      break;
    for (const auto &[name, text] : parts)
      if (name == rest.substr(at + 1, end - at - 1))
        page += text;
    rest.remove_prefix(end + 1);
  }
  return page;
}

} // namespace tile::explain
