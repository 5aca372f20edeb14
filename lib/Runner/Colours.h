// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Colours on a terminal for messages, verdicts and profiles. They are applied to finished texts, so no other code deals
// with colours.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace tile::runner {

/// The streams that are coloured.
struct Colours {
  bool messages = false; ///< standard error
  bool results = false;  ///< standard output
};

/// Enables colours for terminals, unless NO_COLOR is set (no-color.org) or TERM is "dumb". The arguments are the values
/// of these variables, or null.
Colours chooseColours(const char *noColor, const char *terminal);

/// Colours the severity in "k.tile:3:5: error: …", "tilec: warning: …", and the carets below a source line.
std::string paintMessages(std::string_view text);
/// Colours "ok" and "FAILED" in a report.
std::string paintVerdicts(std::string_view text);

/// Highlights a bad value.
std::string paintBad(std::string_view text);

/// Escapes control characters as \x1b, except newlines and tabs: names and texts may come from untrusted files, and a
/// terminal would obey them.
std::string showControls(std::string_view text);

/// Prints a text with escaped control characters.
void printPainted(std::FILE *stream, bool isPainted, std::string_view text, std::string (*paint)(std::string_view));

} // namespace tile::runner
