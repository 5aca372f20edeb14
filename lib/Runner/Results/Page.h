// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A page in one file: style, data, the library that draws charts, and scripts. Pages of measurements (Plot.h) and of
// explained kernels (lib/Explain) fill the same frame, Page/frame.html.
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
  std::string data;        ///< JSON, which showPage gets
  std::string_view script; ///< JavaScript that defines showPage
};

std::string makePage(const PageParts &parts);

using FramePart = std::pair<std::string_view, std::string_view>;

/// The frame with the text of each `parts` in the place of its name between two @. A name that is not there stays.
std::string fillFrame(std::string_view frame, std::span<const FramePart> parts);

std::string escapeHtml(std::string_view text);

} // namespace tile::runner
