// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec format [--check] [FILES]`: formats files in place, or lists those that are not formatted.
#include "FormatCommand.h"

#include "Driver/CompilerOptions.h"
#include "Driver/OutputFile.h"
#include "Format/Format.h"
#include "Messages.h"

#include <CLI/CLI.hpp>

using namespace tile;
using driver::Outcome;

namespace {

Outcome report(Outcome outcome, const llvm::Twine &message) {
  messages() << "tilec: error: " << message << '\n';
  return outcome;
}

Outcome formatFile(const std::string &path, bool isCheck) {
  const bool isInput = path == "-";
  // Python files have their own formatters, and projects have already chosen one.
  if (!isInput && !llvm::StringRef(path).ends_with(".tile"))
    return report(Outcome::Usage, "'" + path + "' is not a .tile file");
  llvm::Expected<std::string> text = driver::readInput(path);
  if (!text)
    return report(Outcome::Environment, toString(text.takeError()));
  frontend::DiagnosticEngine diagnostics;
  std::optional<std::string> formatted = format::format({isInput ? "<stdin>" : path, *text}, diagnostics);
  if (!formatted) {
    messages() << diagnostics.render();
    return Outcome::Rejected;
  }
  const bool isChanged = *formatted != *text;
  if (isCheck && isChanged)
    return report(Outcome::Rejected, "'" + path + "' is not formatted; run tilec format on it");
  if (isCheck || (!isChanged && !isInput))
    return Outcome::Success;
  if (llvm::Error error = driver::writeOutput(path, *formatted))
    return report(Outcome::Environment, toString(std::move(error)));
  return Outcome::Success;
}

} // namespace

int tile::formatCommand(llvm::ArrayRef<const char *> words) {
  CLI::App app("Formats .tile files in place: indentation, spacing, blank lines, and lines longer than 120 columns.\n"
               "Comments, directives and the meaning of the program are preserved.",
               "tilec format");
  bool isCheck = false;
  std::vector<std::string> files;
  app.add_flag("--check", isCheck, "Change nothing; fail if a file is not formatted");
  app.add_option("FILES", files, "Files to format; '-', or no file at all, formats standard input to standard output");
  app.footer(
      "Exit codes: 0 success; 1 a file has errors, or --check found one that is not formatted; 2 invalid command "
      "line;\n3 a file cannot be read or written.");
  try {
    // CLI11 expects arguments in reverse order.
    app.parse(
        std::vector<std::string>(std::make_reverse_iterator(words.end()), std::make_reverse_iterator(words.begin())));
  } catch (const CLI::CallForHelp &) {
    llvm::outs() << app.help();
    return int(Outcome::Success);
  } catch (const CLI::ParseError &error) {
    return int(report(Outcome::Usage, llvm::Twine(error.what()) + "; see tilec format --help"));
  }
  if (files.empty())
    files.emplace_back("-");
  Outcome worst = Outcome::Success;
  for (const std::string &file : files)
    worst = std::max(worst, formatFile(file, isCheck));
  return int(worst);
}
