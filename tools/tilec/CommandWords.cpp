// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CommandWords.h"

#include "Driver/TileSource.h"
#include "Messages.h"

using namespace tile;
using driver::Outcome;

std::optional<int> tile::parseWords(llvm::ArrayRef<const char *> words, CLI::App &app, CommandLine &line) {
  ParseStatus status = parseCommandLine(words, /*run=*/true, line);
  if (status == ParseStatus::Help)
    llvm::outs() << app.help() << '\n';
  if (status != ParseStatus::Compile)
    return status == ParseStatus::Error ? int(Outcome::Usage) : int(Outcome::Success);
  try {
    std::vector<std::string> remaining(line.remaining.rbegin(),
                                       line.remaining.rend()); // CLI11 expects arguments in reverse order
    app.parse(remaining);
  } catch (const CLI::ParseError &error) {
    return fail(line.compiler, Outcome::Usage, llvm::Twine(error.what()) + "; see " + app.get_name() + " --help");
  }
  return std::nullopt;
}

std::optional<int> tile::refuseOutputs(const CommandLine &line, const char *command) {
  if (!line.emitGiven && line.output.empty() && line.cacheFolder.empty() && line.depfile.empty())
    return std::nullopt;
  return fail(line.compiler, Outcome::Usage,
              llvm::Twine(command) + " writes no file; remove -o, -MD, --emit, --cache and --stop-after");
}

std::optional<int> tile::readInput(CommandLine &line) {
  llvm::Expected<std::string> text = driver::readSource(line.compiler.input);
  if (!text)
    return fail(line.compiler, Outcome::Environment, toString(text.takeError()));
  line.compiler.inputText = std::move(*text);
  return std::nullopt;
}

std::vector<std::string> tile::listSelectedKernels(const CommandLine &line) {
  if (!line.compiler.kernel.empty())
    return {""};
  frontend::DiagnosticEngine ignored; // errors are reported when the kernel is compiled
  std::vector<std::string> launched =
      frontend::listLaunchedKernels(driver::parseInput(line.compiler, /*sidecar=*/std::nullopt, ignored));
  return launched.size() > 1 ? launched : std::vector<std::string>{""};
}
