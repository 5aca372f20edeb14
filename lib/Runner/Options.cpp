// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers options with CLI11. The help texts explain the options.
#include "Runner/Options.h"

#include <CLI/CLI.hpp>

#include <charconv>

namespace tile::runner {

/// Returns an error for invalid values, which CLI11 would convert to the nearest value of the type.
static std::string isUnsigned(const std::string &text) {
  uint64_t number = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size()
             ? std::string()
             : "'" + text + "' is not an integer from 0 to " + std::to_string(UINT64_MAX);
}

static std::string isLabel(const std::string &text) {
  const size_t at = text.find('=');
  return at != std::string::npos && at > 0 ? std::string() : "'" + text + "' is not of the form KEY=VALUE";
}

static std::optional<std::vector<int64_t>> parseGrid(std::string_view text) {
  std::vector<int64_t> sizes;
  for (bool hasMore = true; hasMore; text.remove_prefix(hasMore)) {
    uint32_t size = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (code != std::errc() || size > INT32_MAX || sizes.size() == 3)
      return std::nullopt;
    sizes.push_back(size);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    hasMore = text.starts_with(',');
  }
  return text.empty() ? std::optional(sizes) : std::nullopt;
}

std::string isSeconds(const std::string &text) {
  double seconds = 0;
  // The comparison also rejects NaN.
  const bool isNumber = CLI::detail::lexical_cast(text, seconds) && seconds >= 0.001 && seconds <= 1e6;
  return isNumber ? std::string() : "'" + text + "' is not a number of seconds from 0.001 to 1000000";
}

const char *const exitCodeHelp = "Exit codes: 0 success; 1 a check failed, or the kernel could not be loaded or run; 2 "
                                 "invalid options or arguments, including those that the kernel does not accept.";

// Sections of --help.
static constexpr const char *runGroup = "Running", *compareGroup = "Comparing", *ranksGroup = "Several GPUs",
                            *simGroup = "Simulator (--device=sim)", *benchGroup = "Measuring";

void addKernelOptions(CLI::App &app, RunOptions &options) {
  app.add_option(
         "arguments", options.arguments,
         "Kernel arguments: scalars and expressions (M=512 stride_am=K alpha=0.5) and buffers "
         "(a=random(seed=3), zeros, ones, full(2.5), arange, [3, 1, 2], randint(0, 9), permutation, "
         "offsets(total), addresses(a, offsets), peers(a), FILE.npy, an image .ppm or .pgm, or any other file as raw "
         "row-major elements)")
      ->type_name("NAME=VALUE");
  app.add_option("--device", options.device,
                 "Device to run on: cuda, cuda:N for device N, sim for the simulator, or auto: cuda where there is "
                 "one, else sim")
      ->group(runGroup)
      ->capture_default_str();
  // The option takes one word only, because the next word may be an argument of the kernel.
  app.add_option_function<std::string>(
         "--grid", [&options](const std::string &text) { options.grid = *parseGrid(text); },
         "Launch this grid instead of the kernel's own")
      ->type_name("X[,Y[,Z]]")
      ->check([](const std::string &text) {
        return parseGrid(text)
                   ? std::string()
                   : "'" + text + "' is not a grid; expected one to three sizes from 0 to 2147483647, as in 4,2";
      })
      ->group(runGroup);
  app.add_option("--seed", options.seed, "Seed of random inputs")
      ->check(isUnsigned)
      ->group(runGroup)
      ->capture_default_str();
  app.add_option("--offset", options.offsets, "Start a buffer ELEMENTS past an address aligned to 256 bytes")
      ->type_name("NAME=ELEMENTS")
      ->allow_extra_args(false)
      ->group(runGroup);
  app.add_flag(
         "--overlap", options.overlap,
         "Let the kernel start before the previous one has ended (programmatic dependent launch), if it supports that")
      ->group(runGroup);
}

static std::string isDevices(const std::string &text) {
  const bool isList = !text.empty() && text.find_first_not_of("0123456789,") == std::string::npos &&
                      !text.starts_with(',') && !text.ends_with(',') && text.find(",,") == std::string::npos;
  return isList ? std::string() : "'" + text + "' is not a list of devices; expected numbers, as in 0,1";
}

void addRankOptions(CLI::App &app, RunOptions &options) {
  app.add_option("--ranks", options.ranks,
                 "Number of GPUs that run the kernel at the same time, simulated with --device=sim: each rank has its "
                 "own buffers, and the tables that `peers` fills contain the addresses of the buffers of all ranks. "
                 "Default: the number of processes that mpirun, srun or torchrun has started, if the kernel has such "
                 "a table")
      ->check(CLI::Range(1, 64))
      ->group(ranksGroup);
  app.add_option("--devices", options.devices, "GPUs of the ranks (default: 0, 1 and so on)")
      ->type_name("N,N...")
      ->check(isDevices)
      ->group(ranksGroup);
}

void addVariantOptions(CLI::App &app, RunOptions &options) {
  const std::string group = "Artifacts with several variants";
  app.add_option("--variant", options.variant, "Run this variant instead of the one that a launch would choose")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--tuning", options.tuning, "Choose variants by this table, written by `tile-run tune`")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--target", options.target,
                 "In the simulator, choose among the variants that this target runs (default: the target of the first)")
      ->type_name("TARGET")
      ->group(group);
}

void addTimeLimit(CLI::App &app, RunOptions &options) {
  app.add_option_function<double>(
         "--time-limit", [&options](const double &seconds) { options.limit.emplace(seconds); },
         "Stop simulations and checks after this time")
      ->type_name("SECONDS")
      ->check(isSeconds)
      ->group(runGroup);
}

void addTraceOption(CLI::App &app, RunOptions &options) {
  app.add_option(
         "--trace", options.trace,
         "Write the times that a kernel compiled with --instrument records as a timeline for Chrome or Perfetto")
      ->type_name("FILE.json")
      ->group(runGroup);
}

void addCheckOptions(CLI::App &app, RunOptions &options) {
  addTimeLimit(app, options);
  app.add_option("--repeat", options.repeat, "Run (and check) this many times, each with fresh buffers")
      ->check(CLI::Range(1, 1000000))
      ->group(runGroup)
      ->capture_default_str();
  app.add_option("--save", options.saves,
                 "Write a buffer to a file after the run: .npy, an image (.ppm, .pgm) or raw elements")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false)
      ->group(runGroup);
  app.add_flag("--check", options.check,
               "Compare outputs with the kernel's `expect` declarations, computed in double precision on the CPU")
      ->group(runGroup);
}

void addRecordedOptions(CLI::App &app, const std::string &name, RunOptions &options) {
  app.add_option(name, options.recorded,
                 "Compare a buffer after the run with a file written by --save, on another device, with another "
                 "version or by another framework")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false)
      ->group(compareGroup);
  app.add_option("--within", options.within,
                 "Allowed relative error, as in `expect ... within`; 0 demands equal values")
      ->check([](const std::string &text) {
        double bound = 0;
        const bool isBound = CLI::detail::lexical_cast(text, bound) && bound >= 0 && bound <= 1; // also rejects NaN
        return isBound ? std::string() : "'" + text + "' is not a number from 0 to 1";
      })
      ->group(compareGroup);
}

void addSimulatorOptions(CLI::App &app, RunOptions &options) {
  app.add_option(
         "--order", options.order,
         "Order in which warps and asynchronous operations proceed; the order that a report names reproduces its run")
      ->type_name("seed:N")
      ->group(simGroup);
  app.add_option("--orders", options.orders,
                 "Run (and check) under N different orders, each with fresh buffers; stop at the first failure")
      ->check(CLI::Range(1, 1000000))
      ->group(simGroup)
      ->capture_default_str();
  app.add_option("--sms", options.multiprocessors,
                 "Number of simulated multiprocessors, which persistent kernels see (default: 4); `tilec run` then "
                 "also compiles for that many")
      ->check(CLI::Range(1, 1024))
      ->group(simGroup);
  app.add_option("--threads", options.threads, "Host threads (default: one per core)")
      ->check(CLI::Range(1, 1024))
      ->group(simGroup);
  app.add_option("--steps", options.steps,
                 "Instructions after which a warp is considered hung (default: 100000000, about half a minute)")
      ->check(CLI::Range(uint64_t(1), uint64_t(1) << 62))
      ->group(simGroup);
  app.add_flag("--no-checks", options.noSimChecks,
               "Skip the checks for races, missing waits and uninitialized reads, which is faster; errors that stop "
               "the kernel are still reported")
      ->group(simGroup);
  app.add_flag(
         "--profile", options.profile,
         "Print the kernel's source with counters for each line: instructions, transactions, bank conflicts, copies")
      ->group(simGroup);
  app.add_option("--profile-json", options.profileJson, "Append the same counters to FILE, one JSON object per run")
      ->type_name("FILE")
      ->group(simGroup);

  app.add_option("--sources", options.sourceFolders,
                 "Folder to search for the kernel's source, which reports and profiles show, besides the working "
                 "directory and the artifact's folder")
      ->type_name("FOLDER")
      ->allow_extra_args(false)
      ->group(simGroup);
}

void addMeasureOptions(CLI::App &app, RunOptions &options) {
  app.add_flag("--graph", options.graph,
               "Measure replays of a CUDA graph of many launches, which shows the device's time alone: for kernels "
               "that are shorter than a launch")
      ->group(benchGroup);
  app.add_option(
         "--l2", options.l2,
         "State of the L2 cache before a launch: cold or warm (default: cold for single launches, warm for graphs)")
      ->check(CLI::IsMember({"cold", "warm"}))
      ->group(benchGroup);
  app.add_option(
         "--baseline", options.baselines,
         "Baseline to compare with; may be repeated: cublas; cublaslt, the fastest algorithm found by a search; "
         "copy, a device copy of the same number of bytes; none; another artifact; a .jsonl file of recorded times. "
         "Default: cublas for a GEMM, otherwise copy")
      ->type_name("NAME|FILE")
      ->allow_extra_args(false)
      ->group(benchGroup);
  app.add_flag("--energy", options.energy,
               "Also measure the energy per launch, which takes another second per contestant")
      ->group(benchGroup);
  app.add_option("--rounds", options.rounds,
                 "Number of interleaved rounds of kernel and baseline; the median is reported")
      ->check(CLI::Range(1, 1000))
      ->group(benchGroup)
      ->capture_default_str();
  app.add_option("-o,--bench-json", options.benchJson,
                 "Append the measurement to this file, one JSON object per line, for tile-run plot and compare")
      ->type_name("FILE")
      ->group(benchGroup);
  app.add_option("--label", options.labels, "Record KEY=VALUE with the measurement, for example commit=1a2b3c")
      ->type_name("KEY=VALUE")
      ->check(isLabel)
      ->allow_extra_args(false)
      ->group(benchGroup);
  app.add_option("--cublas", options.cublas, "The cuBLAS library to load (default: libcublas.so.13, .12 or .11)")
      ->type_name("FILE")
      ->group(benchGroup);
  app.add_flag("--precise-baseline", options.preciseBaseline,
               "Let cuBLAS accumulate 8-bit floats in fp32, as kernels with max_num_imprecise_acc do, "
               "instead of its fast accumulation")
      ->group(benchGroup);
}

void addFormatOption(CLI::App &app, RunOptions &options) {
  app.add_option("--format", options.format, "Format of the report: table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
}

void addRunOptions(CLI::App &app, RunOptions &options) {
  addKernelOptions(app, options);
  addRankOptions(app, options);
  addCheckOptions(app, options);
  addTraceOption(app, options);
  addRecordedOptions(app, "--compare", options);
  app.get_option("--within")->needs("--compare");
  addSimulatorOptions(app, options);
  CLI::Option *bench =
      app.add_flag("--bench", options.bench,
                   "Measure the kernel against cuBLAS (GEMMs) or a copy of the same number of bytes (everything else)");
  bench->group(benchGroup);
  addMeasureOptions(app, options);
  app.get_option("--graph")->needs(bench);
  addFormatOption(app, options);
}

} // namespace tile::runner
