// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Colours for messages, verdicts and profiles on a terminal. Colours are applied to finished output, so no other code
// deals with them.
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
/// of these two variables, or null.
Colours chooseColours(const char *noColor, const char *terminal);

/// Colours the severity in "k.tile:3:5: error: …" and "tilec: warning: …", and the carets below a source line.
std::string paintMessages(std::string_view text);
/// Colours "ok" and "FAILED" in a report.
std::string paintVerdicts(std::string_view text);

/// Highlights a bad value of a profile.
std::string paintBad(std::string_view text);

/// Replaces control characters other than newlines and tabs by \x1b and the like, because names and strings may come
/// from untrusted files and a terminal would interpret the characters.
std::string showControls(std::string_view text);

/// Prints `text` with control characters escaped.
void printPainted(std::FILE *stream, bool isPainted, std::string_view text, std::string (*paint)(std::string_view));

} // namespace tile::runner
