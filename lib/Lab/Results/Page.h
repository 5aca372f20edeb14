// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A self-contained page: style, data, the chart library, and scripts. Pages with measurements (Plot.h) and pages that
// explain kernels (lib/Explain) share one frame, Page/frame.html.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tile::runner {

struct PageParts {
  std::string title;       ///< plain text
  std::string_view style;  ///< CSS, after Page/base.css
  std::string body;        ///< HTML
  std::string data;        ///< JSON, passed to showPage
  std::string_view script; ///< JavaScript that defines showPage
};

std::string makePage(const PageParts &parts);

using FramePart = std::pair<std::string_view, std::string_view>;

/// Replaces each @NAME@ in the frame by the text of the part with this name. Unknown names stay.
std::string fillFrame(std::string_view frame, std::span<const FramePart> parts);

std::string escapeHtml(std::string_view text);

} // namespace tile::runner
