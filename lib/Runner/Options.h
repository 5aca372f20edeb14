// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options shared by the subcommands of `tile-run` and by `tilec run`: for the kernel, its arguments, and the use of the
// results. Each subcommand registers the groups that it needs.
#pragma once

#include "Runner/Colours.h"
#include "Runner/LongWork.h"
#include "Runtime/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tile::runner {

class CudaDevice;
class Execution;
struct BenchResult;

struct RunOptions {
  std::string program = "tile-run"; ///< prefix of messages
  Colours colours;
  std::string command; ///< the whole command line, recorded with measurements
  std::string label;   ///< name of the current case, or ""
  std::string artifact;
  std::vector<std::string> after;     ///< artifacts that run before this one, on the same buffers
  std::vector<std::string> arguments; ///< name=value
  std::string device = "auto";        ///< "auto", "cuda", "cuda:1", "sim", or a device added by the tool
  std::string devices;                ///< the GPUs of the ranks, such as "0,1"; empty: not given
  int rank = 0, ranks = 0;            ///< for a run on several GPUs; if `ranks` is 0, it was not given
  /// Looks up an environment variable, for ranks that are processes; null if ranks cannot be processes.
  const char *(*environment)(void *, const char *name) = nullptr;
  std::vector<int64_t> grid; ///< overrides the grid of the manifest
  std::string variant;       ///< name of a variant; empty: the one chosen for the call
  std::string tuning;        ///< file of a tuning table
  std::string target;        ///< target of the simulated variants; empty: the first variant's target
  uint64_t seed = 0;
  std::vector<std::string> offsets; ///< name=elements: buffers that do not start at an aligned address
  int repeat = 1;
  bool check = false;
  std::optional<TimeLimit> limit;    ///< time limit for simulations, checks and the preparation of buffers
  std::vector<std::string> recorded; ///< name=file: expected contents of buffers
  std::optional<double> within;      ///< tolerance of comparisons
  bool bench = false;
  /// Set by programs that link lib/Lab. Measures the kernel after the run, if `bench` requests it (measureRun).
  runtime::Result<BenchResult> (*measure)(const RunOptions &, CudaDevice &, Execution &) = nullptr;
  int rounds = 11;    ///< rounds of a benchmark
  bool graph = false; ///< measure by replaying CUDA graphs
  std::string l2;     ///< "cold" or "warm"; empty: cold for single launches, warm for graphs
  std::string flops;  ///< operations per launch, an expression over the parameters; empty: the expectation's operations
  bool energy = false;
  bool ceilings = false;
  std::vector<std::string> baselines;
  bool overlap = false; ///< launches may start before the previous ones have ended
  std::string format = "table";
  std::vector<std::string> saves; ///< name=file
  std::string trace;              ///< file for the times recorded by an instrumented kernel, or ""
  std::string benchJson;
  bool resume = false;             ///< skip measurements that are already in benchJson
  std::vector<std::string> labels; ///< key=value, recorded with measurements
  std::string cublas;              ///< path of libcublas, or ""
  bool preciseBaseline = false;    ///< cuBLAS accumulates 8-bit floats in fp32
  // Options for the simulator.
  std::string order;        ///< "seed:N"; empty: not given
  int orders = 1;           ///< number of orders to run (and check), one after another
  int multiprocessors = 0;  ///< 0: not given
  unsigned threads = 0;     ///< host threads; 0: not given
  uint64_t steps = 0;       ///< limit of instructions per warp; 0: not given
  bool noSimChecks = false; ///< report only fatal errors
  bool profile = false;     ///< print the counters next to the source
  std::string profileJson;
  std::vector<std::string> sourceFolders; ///< folders with sources that may be shown in reports
  bool isCompiledHere = false;            ///< the kernel was compiled in this process, so source names are trusted
};

/// A CLI11 validator. Returns an error message for an invalid number of seconds, otherwise an empty string.
std::string isSeconds(const std::string &text);

/// Adds the options for arguments, device, grid and seed.
void addKernelOptions(CLI::App &app, RunOptions &options);
/// Adds --ranks and --devices.
void addRankOptions(CLI::App &app, RunOptions &options);
/// Adds the options for artifacts with several variants.
void addVariantOptions(CLI::App &app, RunOptions &options);
/// Adds --time-limit for the command. The time starts now.
void addTimeLimit(CLI::App &app, RunOptions &options);
/// Adds --trace.
void addTraceOption(CLI::App &app, RunOptions &options);
/// Adds --check, --save, --repeat, --time-limit.
void addCheckOptions(CLI::App &app, RunOptions &options);
/// Adds --within, and an option of this name that takes NAME=FILE.
void addRecordedOptions(CLI::App &app, const std::string &name, RunOptions &options);
void addSimulatorOptions(CLI::App &app, RunOptions &options);
/// Adds the options for measurements and their output.
void addMeasureOptions(CLI::App &app, RunOptions &options);
void addFormatOption(CLI::App &app, RunOptions &options);

/// Adds the options of all functions above, and --bench, for `tilec run`, which has no subcommands.
void addRunOptions(CLI::App &app, RunOptions &options);

/// The sentence on exit codes in the footer of --help.
extern const char *const exitCodeHelp;

} // namespace tile::runner
