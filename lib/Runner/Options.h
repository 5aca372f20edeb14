// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options shared by the subcommands of `tile-run` and by `tilec run`: the kernel, its arguments, and the use of the
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
  std::vector<std::string> after;     ///< artifacts that run before, on the same buffers
  std::vector<std::string> arguments; ///< name=value
  std::string device = "auto";        ///< "auto", "cuda", "cuda:1", "sim", or a device added by the tool
  std::string devices;                ///< GPUs of the ranks: "0,1"; empty: not given
  int rank = 0, ranks = 0;            ///< of a run on several GPUs; ranks 0: not given
  /// Looks up a variable of the environment, for ranks that are processes; null: there are none.
  const char *(*environment)(void *, const char *name) = nullptr;
  std::vector<int64_t> grid; ///< overrides the grid of the manifest
  std::string variant;       ///< name of a variant; empty: chosen for the call
  std::string tuning;        ///< file of a tuning table
  std::string target;        ///< target of simulated variants; empty: that of the first variant
  uint64_t seed = 0;
  std::vector<std::string> offsets; ///< name=elements: buffers that do not start at an aligned address
  int repeat = 1;
  bool check = false;
  std::optional<TimeLimit> limit;    ///< limit for simulations, checks and buffers
  std::vector<std::string> recorded; ///< name=file: expected contents of buffers
  std::optional<double> within;      ///< tolerance of comparisons
  bool bench = false;
  /// Set by programs that link lib/Lab: measures the kernel after the run, where `bench` asks for it (measureRun).
  runtime::Result<BenchResult> (*measure)(const RunOptions &, CudaDevice &, Execution &) = nullptr;
  int rounds = 11;    ///< rounds of a benchmark
  bool graph = false; ///< measure by replaying CUDA graphs
  std::string l2;     ///< "cold" or "warm"; empty: cold for single launches, warm for graphs
  std::string flops;  ///< operations per launch, an expression over the parameters; empty: those of the expectation
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
  // Options of the simulator.
  std::string order;        ///< "seed:N"; empty: not given
  int orders = 1;           ///< number of orders to run (and check), one after another
  int multiprocessors = 0;  ///< 0: not given
  unsigned threads = 0;     ///< host threads; 0: not given
  uint64_t steps = 0;       ///< limit of instructions per warp; 0: not given
  bool noSimChecks = false; ///< report only fatal errors
  bool profile = false;     ///< print the counters alongside the source
  std::string profileJson;
  std::vector<std::string> sourceFolders; ///< folders with sources that reports show
  bool isCompiledHere = false;            ///< compiled in this process: source names are trusted
};

/// CLI11 validator: returns an error for an invalid number of seconds, otherwise an empty text.
std::string isSeconds(const std::string &text);

/// Adds arguments, device, grid, seed.
void addKernelOptions(CLI::App &app, RunOptions &options);
/// Adds --ranks and --devices.
void addRankOptions(CLI::App &app, RunOptions &options);
/// Adds options for artifacts with several variants.
void addVariantOptions(CLI::App &app, RunOptions &options);
/// Adds --time-limit for the command; the time starts now.
void addTimeLimit(CLI::App &app, RunOptions &options);
/// Adds --trace.
void addTraceOption(CLI::App &app, RunOptions &options);
/// Adds --check, --save, --repeat, --time-limit.
void addCheckOptions(CLI::App &app, RunOptions &options);
/// Adds --within, and an option of this name that takes NAME=FILE.
void addRecordedOptions(CLI::App &app, const std::string &name, RunOptions &options);
void addSimulatorOptions(CLI::App &app, RunOptions &options);
/// Adds options of measurements and their output.
void addMeasureOptions(CLI::App &app, RunOptions &options);
void addFormatOption(CLI::App &app, RunOptions &options);

/// Adds all of them, and --bench: for `tilec run`, which has no subcommands.
void addRunOptions(CLI::App &app, RunOptions &options);

/// A sentence for the footer of --help.
extern const char *const exitCodeHelp;

} // namespace tile::runner
