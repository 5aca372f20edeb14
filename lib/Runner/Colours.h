// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Colours on a terminal: of messages, verdicts and profiles. They are put on texts that are made without them, so that
// nothing else knows of colours.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace tile::runner {

/// What is painted.
struct Colours {
  bool messages = false; ///< standard error
  bool results = false;  ///< standard output
};

/// What is a terminal, unless NO_COLOR is set (no-color.org) or TERM is "dumb". Both as the environment has them, or
/// null.
Colours chooseColours(const char *noColor, const char *terminal);

/// "k.tile:3:5: error: …", "tilec: warning: …": the word, and the carets below a line of source.
std::string paintMessages(std::string_view text);
/// "ok" and "FAILED" of a report.
std::string paintVerdicts(std::string_view text);

/// A figure that is bad.
std::string paintBad(std::string_view text);

/// With control characters, but ends of lines and tabs, as \x1b: names and texts may come from files that anyone has
/// made, and a terminal would obey them.
std::string showControls(std::string_view text);

/// Shows control characters.
void printPainted(std::FILE *stream, bool isPainted, std::string_view text, std::string (*paint)(std::string_view));

} // namespace tile::runner
