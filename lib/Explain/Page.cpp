// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Embeds the document in a page. CMake concatenates the scripts in Page/.
#include "Lab/Results/Page.h"
#include "Explain/Simulation.h"
#include "Lab/Results/Embed.h"

TILE_EMBED(static const std::string_view body, tile_explain_body, "body.html")
TILE_EMBED(static const std::string_view style, tile_explain_style, "page.css")
TILE_EMBED(static const std::string_view script, tile_explain_script, "script.js")

namespace tile::explain {

std::string makePage(const std::string &document, const std::string &title) {
  const std::string heading = runner::escapeHtml(title);
  const runner::FramePart texts[] = {{"TITLE", heading}};
  return runner::makePage({title, style, runner::fillFrame(body, texts), document, script});
}

} // namespace tile::explain
