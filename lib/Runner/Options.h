// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options that the subcommands of `tile-run`, and `tilec run`, share: what to run with which arguments, and what to do
// with the results. Each subcommand registers the groups that it needs.
#pragma once

#include "Runner/Colours.h"
#include "Runner/LongWork.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tile::runner {

struct RunOptions {
  std::string program = "tile-run"; ///< before messages
  Colours colours;
  std::string command; ///< the whole command line, recorded with measurements
  std::string label;   ///< of the case that runs, or ""
  std::string artifact;
  std::vector<std::string> arguments; ///< name=value
  std::string device = "auto";        ///< "auto", "cuda", "cuda:1", "sim", or what the tool adds
  std::vector<int64_t> grid;          ///< overrides the manifest's
  std::string variant;                ///< of an artifact with several; empty: what the call takes
  std::string tuning;                 ///< file of a tuning table
  std::string target;                 ///< of the variants in the simulator; empty: the first one's
  uint64_t seed = 0;
  std::vector<std::string> offsets; ///< name=elements: buffers that do not begin at an aligned address
  int repeat = 1;
  bool check = false;
  std::optional<TimeLimit> limit;    ///< of simulations and checks
  std::vector<std::string> recorded; ///< name=file: what buffers are compared with
  std::optional<double> within;      ///< tolerance of comparisons
  bool bench = false;
  int rounds = 11;    ///< of a benchmark
  bool graph = false; ///< measure by replaying CUDA graphs
  std::string l2;     ///< "cold" or "warm"; empty: cold for single launches, warm for graphs
  std::string flops;  ///< operations of a launch, an expression over the parameters; empty: those of the expectation
  bool energy = false;
  bool ceilings = false;
  std::vector<std::string> baselines;
  bool overlap = false; ///< launches may begin before the previous ones have ended
  std::string format = "table";
  std::vector<std::string> saves; ///< name=file
  std::string trace;              ///< file for the times that the kernel records, or ""
  std::string benchJson;
  bool resume = false;             ///< what benchJson has is not measured again
  std::vector<std::string> labels; ///< key=value, recorded with measurements
  std::string cublas;              ///< path of libcublas, or ""
  bool preciseBaseline = false;    ///< cuBLAS adds products of 8-bit floats in fp32
  // Of the simulator.
  std::string order;        ///< "seed:N"; empty: not given
  int orders = 1;           ///< run (and check) under so many, one after the other
  int multiprocessors = 0;  ///< 0: not given
  unsigned threads = 0;     ///< of the host; 0: not given
  uint64_t steps = 0;       ///< instructions of a warp; 0: not given
  bool noSimChecks = false; ///< only what stops a kernel is reported
  bool profile = false;     ///< print the counters beside the source
  std::string profileJson;
  std::vector<std::string> sourceFolders; ///< of sources that reports show
  bool isCompiledHere = false;            ///< the names of sources are the compiler's, not those of somebody's artifact
};

/// For CLI11: what is wrong with a number of seconds; empty if nothing is.
std::string isSeconds(const std::string &text);

/// Arguments, device, grid, seed.
void addKernelOptions(CLI::App &app, RunOptions &options);
/// Of artifacts with several variants.
void addVariantOptions(CLI::App &app, RunOptions &options);
/// --time-limit, of the command: it begins here.
void addTimeLimit(CLI::App &app, RunOptions &options);
/// --trace.
void addTraceOption(CLI::App &app, RunOptions &options);
/// --check, --save, --repeat, --time-limit.
void addCheckOptions(CLI::App &app, RunOptions &options);
/// --within, and an option of this name that takes NAME=FILE.
void addRecordedOptions(CLI::App &app, const std::string &name, RunOptions &options);
void addSimulatorOptions(CLI::App &app, RunOptions &options);
/// How to measure, and where the measurement goes.
void addMeasureOptions(CLI::App &app, RunOptions &options);
void addFormatOption(CLI::App &app, RunOptions &options);

/// All of them, and --bench: for `tilec run`, which has no subcommands.
void addRunOptions(CLI::App &app, RunOptions &options);

/// One sentence for the footer of --help.
extern const char *const exitCodeHelp;

} // namespace tile::runner
