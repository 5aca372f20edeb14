// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Results/Page.h"

#include "Lab/Results/Assets.h"

#include <algorithm>

namespace tile::runner {

/// Escapes "<" in JSON, because within a script element "</script" would end the element, and "<!--" would begin a
/// comment that may hide the element's end.
static std::string escapeJson(std::string_view text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '<' ? "\\u003c" : std::string(1, c);
  return escaped;
}

std::string escapeHtml(std::string_view text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
  return escaped;
}

std::string fillFrame(std::string_view frame, std::span<const FramePart> parts) {
  std::string text;
  for (std::string_view remaining = frame; !remaining.empty();) {
    const size_t at = remaining.find('@'), end = at == remaining.npos ? remaining.npos : remaining.find('@', at + 1);
    if (end == remaining.npos)
      return text += remaining;
    const auto part = std::ranges::find_if(
        parts, [&](const FramePart &one) { return one.first == remaining.substr(at + 1, end - at - 1); });
    text += remaining.substr(0, at);
    text += part == parts.end() ? remaining.substr(at, end - at + 1) : part->second;
    remaining.remove_prefix(end + 1);
  }
  return text;
}

std::string makePage(const PageParts &parts) {
  const std::string title = escapeHtml(parts.title), data = escapeJson(parts.data);
  const FramePart texts[] = {{"TITLE", title},        {"BASE", assets::base}, {"STYLE", parts.style},
                             {"BODY", parts.body},    {"DATA", data},         {"ECHARTS", assets::echarts},
                             {"SCRIPT", parts.script}};
  return fillFrame(assets::frame, texts);
}

} // namespace tile::runner
