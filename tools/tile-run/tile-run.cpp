// tile-run: runs a kernel compiled by tilec, checks it and measures it. Knows neither LLVM nor MLIR.
//
//   tile-run gemm.cubin M=512 N=512 K=300 --check
#include "Runner/Run.h"

#include <CLI/CLI.hpp>
#include <exception>

using namespace tile::runner;

namespace {

std::string commandLine(int argc, char **argv) {
  std::string command;
  for (int i = 0; i < argc; ++i)
    command += (i ? " " : "") + std::string(argv[i]);
  return command;
}

int run(int argc, char **argv) {
  RunOptions options;
  options.command = commandLine(argc, argv);
  CLI::App app("Runs a kernel compiled by tilec, checks its results and measures it.\n\n"
               "  tile-run gemm.cubin M=512 N=512 K=300 --check\n"
               "  tile-run gemm.cubin M=8192 N=8192 K=8192 --bench\n",
               "tile-run");
  app.footer(exitCodeHelp);
  app.set_version_flag("--version", "tile-run " TILE_VERSION);
  app.add_option("artifact", options.artifact, "Cubin or PTX made by tilec")->type_name("FILE");
  addRunOptions(app, options);
  app.add_option("--suite", options.suite, "Run the cases of this file, one `name artifact NAME=VALUE...` a line")
      ->type_name("FILE")
      ->excludes("--compare");
  app.add_option("--artifacts", options.artifactFolder, "Folder of the suite's artifacts")->type_name("FOLDER");
  CLI::Option *soak =
      app.add_option(
             "--soak", options.soakSeconds,
             "Launch with random sizes for so many seconds and check each launch; NAME=LOW..HIGH gives the range "
             "of an integer (1..2048), NAME=VALUE fixes it")
          ->check(isSeconds)
          ->type_name("SECONDS")
          ->excludes("--suite")
          ->excludes("--compare")
          ->excludes("--bench");
  app.add_option("--deadline", options.deadlineSeconds, "Seconds after which a launch of --soak counts as hanging")
      ->check(isSeconds)
      ->type_name("SECONDS")
      ->needs(soak)
      ->capture_default_str();
  app.add_flag("--describe", options.describe, "Print the artifact's manifest and stop");
  app.add_flag("--list-devices", options.listDevices, "Print the devices of this machine and stop");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) // --help and --version
      return app.exit(error);
    fmt::print(stderr, "tile-run: error: {}; see tile-run --help\n", error.what());
    return 2;
  }
  if (!options.suite.empty() && !options.artifact.empty()) { // then the first positional is an argument
    options.arguments.insert(options.arguments.begin(), options.artifact);
    options.artifact.clear();
  }
  return runTool(options);
}

} // namespace

int main(int argc, char **argv) {
  try {
    return finishOutput("tile-run", run(argc, argv));
  } catch (const std::bad_alloc &) {
    fmt::print(stderr, "tile-run: error: out of host memory\n");
  } catch (const std::exception &exception) {
    fmt::print(stderr, "tile-run: error: {}\n", exception.what());
  }
  return 1;
}
