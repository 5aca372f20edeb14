// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A first word that is not a subcommand is an artifact or an option of `run`.
#include "Lab/Tool.h"

#include "Lab/Bench/MeasureRun.h"
#include "Lab/Commands/Commands.h"
#include "Runner/Inputs/Arguments.h"

#include <algorithm>
#include <filesystem>
#include <fmt/ranges.h>
#include <map>

namespace tile::runner {
namespace {

constexpr Subcommand ownSubcommands[] = {
    {"run", "Run a kernel or a suite of cases, and check the results", addRun},
    {"bench", "Measure a kernel or a suite of cases against cuBLAS or a device copy", addBench},
    {"plot", "Draw charts of measurements, as a page or as SVG", addPlot},
    {"roofline", "Show the bottleneck of a kernel: memory, L2, tensor cores, ...", addRoofline},
    {"soak", "Launch repeatedly with random sizes, or the cases of suites, and check every launch", addSoak},
    {"verify",
     "Run each variant under many orders of events, or compare each with the simulator or with another artifact",
     addVerify},
    {"compare", "Compare two builds of a kernel, its outputs with recorded ones, or two files of measurements",
     addCompare},
    {"list-variants", "Print which of an artifact's variants a call would use, and why", addListVariants},
    {"order",
     "Print the order in which each variant adds floats, and a value: variants with equal values give equal bits",
     addOrder},
    {"tune", "Measure which variants are fastest for which sizes", addTune},
    {"describe", "Print an artifact's manifest", addDescribe},
    {"devices", "List the GPUs of this machine", addDevices}};

using Subcommands = std::vector<Subcommand>;

bool isSubcommand(const Subcommands &subcommands, const std::string &word) {
  return std::any_of(subcommands.begin(), subcommands.end(),
                     [&](const Subcommand &command) { return command.name == word; });
}

int fail(Colours colours, const std::string &message) {
  printPainted(stderr, colours.messages, fmt::format("tile-run: error: {}\n", message), paintMessages);
  return 2;
}

/// Returns an error message for a first word that is neither a subcommand nor valid for `run`; otherwise empty.
std::string findMistake(const Subcommands &subcommands, const std::vector<std::string> &words) {
  if (words.empty() || words[0].starts_with("-") || std::filesystem::exists(words[0]))
    return {};
  std::vector<std::string> names;
  for (const Subcommand &command : subcommands)
    names.push_back(command.name);
  const std::string hint = suggestion(words[0], names);
  // Other words are artifacts, or arguments of a suite.
  const bool isPath = words[0].find_first_of("./:=") != std::string::npos;
  return hint.empty() && isPath ? "" : fmt::format("'{}' is neither a subcommand nor a file{}", words[0], hint);
}

} // namespace

int runTool(std::span<const char *const> arguments, const std::string &version, Colours colours,
            std::span<const Subcommand> more, const char *(*environment)(void *, const char *name)) {
  Subcommands subcommands(std::begin(ownSubcommands), std::end(ownSubcommands));
  subcommands.insert(subcommands.end(), more.begin(), more.end());
  RunOptions start;
  start.colours = colours;
  start.measure = measureRun;
  start.environment = environment;
  start.command = fmt::format("{}", fmt::join(arguments, " "));
  std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  const auto isGlobal = [](const std::string &word) { return word == "-h" || word == "--help" || word == "--version"; };
  if (words.empty() || (!isSubcommand(subcommands, words[0]) && !isGlobal(words[0]))) {
    if (const std::string mistake = findMistake(subcommands, words); !mistake.empty())
      return fail(colours, mistake);
    words.insert(words.begin(), "run");
  }

  CLI::App app("Runs kernels compiled by tilec, checks their results and measures them.\n\n"
               "  tile-run gemm.cubin M=512 N=512 K=300 --check\n"
               "  tile-run bench gemm.cubin M=8192 N=8192 K=8192\n\n"
               "`run` may be omitted. `tile-run SUBCOMMAND --help` explains each subcommand.",
               "tile-run");
  app.footer(exitCodeHelp);
  app.set_version_flag("--version", version);
  app.require_subcommand(0, 1); // a second word is not a subcommand
  std::map<const CLI::App *, Action> actions;
  for (const Subcommand &command : subcommands) {
    CLI::App *sub = app.add_subcommand(command.name, command.description);
    sub->footer(exitCodeHelp);
    actions[sub] = command.add(*sub, start);
  }
  const std::string name = words[0];
  try {
    std::reverse(words.begin(), words.end()); // CLI11 takes words in reverse order
    app.parse(words);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) // --help and --version
      return app.exit(error);
    return fail(colours, fmt::format("{}; see tile-run {} --help", error.what(), name));
  }
  return actions.at(app.get_subcommands().front())();
}

} // namespace tile::runner
