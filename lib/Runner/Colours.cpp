// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Colours use the "select graphic rendition" codes of ECMA-48, limited to the eight colours that every terminal
// supports.
#include "Runner/Colours.h"

#include <fmt/format.h>
#include <unistd.h>

namespace tile::runner {
namespace {

constexpr std::string_view reset = "\x1b[0m", bold = "\x1b[1m", red = "\x1b[1;31m", green = "\x1b[1;32m",
                           yellow = "\x1b[1;33m", cyan = "\x1b[1;36m";

std::string in(std::string_view colour, std::string_view text) {
  return std::string(colour) + std::string(text) + std::string(reset);
}

/// Returns true for the line of carets under a source line: "    ^~~~".
bool isCarets(std::string_view line) {
  const size_t first = line.find_first_not_of(' ');
  return first != std::string_view::npos && line[first] == '^' &&
         line.find_first_not_of('~', first + 1) == std::string_view::npos;
}

std::string paintMessage(std::string_view line) {
  if (isCarets(line))
    return in(green, line);
  struct Word {
    std::string_view text, colour;
  };
  for (const Word &word : {Word{": error: ", red}, Word{": warning: ", yellow}, Word{": note: ", cyan},
                           Word{": remark: ", cyan}, Word{": internal error: ", red}}) {
    const size_t at = line.find(word.text);
    if (at == std::string_view::npos || line.front() == ' ') // words in quoted source lines are not coloured
      continue;
    const size_t message = at + word.text.size();
    return in(bold, line.substr(0, at + 2)) + in(word.colour, word.text.substr(2, word.text.size() - 3)) + " " +
           in(bold, line.substr(message));
  }
  return std::string(line);
}

std::string paintVerdict(std::string_view line) {
  for (const auto &[word, colour] : {std::pair{std::string_view("FAILED"), red}, {std::string_view("ok"), green}})
    for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
      const auto isLimit = [&](size_t place) {
        return place >= line.size() || std::string_view(" ,:\n").find(line[place]) != std::string_view::npos;
      };
      if (isLimit(at - 1) && isLimit(at + word.size()))
        return std::string(line.substr(0, at)) + in(colour, word) + std::string(line.substr(at + word.size()));
    }
  return std::string(line);
}

std::string paintLines(std::string_view text, std::string (*paint)(std::string_view)) {
  std::string painted;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    painted += line.empty() ? "" : paint(line);
    if (end == std::string_view::npos)
      break;
    painted += '\n';
    text.remove_prefix(end + 1);
  }
  return painted;
}

} // namespace

Colours chooseColours(const char *noColor, const char *terminal) {
  if ((noColor && *noColor) || !terminal || std::string_view(terminal) == "dumb")
    return {};
  return {.messages = isatty(fileno(stderr)) != 0, .results = isatty(fileno(stdout)) != 0};
}

std::string paintMessages(std::string_view text) {
  return paintLines(text, paintMessage);
}

std::string paintVerdicts(std::string_view text) {
  return paintLines(text, paintVerdict);
}

std::string paintBad(std::string_view text) {
  return in(red, text);
}

std::string showControls(std::string_view text) {
  std::string shown;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\n' || c == '\t')
      shown += c;
    else
      shown += fmt::format("\\x{:02x}", c);
  return shown;
}

void printPainted(std::FILE *stream, bool isPainted, std::string_view text, std::string (*paint)(std::string_view)) {
  const std::string shown = showControls(text), painted = isPainted ? paint(shown) : shown;
  std::fwrite(painted.data(), 1, painted.size(), stream);
}

} // namespace tile::runner
