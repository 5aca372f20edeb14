// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration with CLI11; the meaning of each option is its help text.
#include "Runner/Options.h"

#include <CLI/CLI.hpp>

#include <charconv>

namespace tile::runner {

/// CLI11 takes the nearest number of the type for others.
static std::string isUnsigned(const std::string &text) {
  uint64_t number = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size()
             ? std::string()
             : "'" + text + "' is no integer from 0 to " + std::to_string(UINT64_MAX);
}

static std::string isLabel(const std::string &text) {
  const size_t at = text.find('=');
  return at != std::string::npos && at > 0 ? std::string() : "'" + text + "' is no KEY=VALUE";
}

std::string isSeconds(const std::string &text) {
  double seconds = 0;
  const bool isNumber = CLI::detail::lexical_cast(text, seconds) && seconds >= 0.001 && seconds <= 1e6; // nor NaN
  return isNumber ? std::string() : "'" + text + "' is no number of seconds from 0.001 to 1000000";
}

const char *const exitCodeHelp = "Exit codes: 0 success; 1 a check failed, or the kernel could not be loaded or run; 2 "
                                 "wrong options or arguments, also ones that this kernel does not take.";

// The sections of --help.
static constexpr const char *runGroup = "Running", *compareGroup = "Comparing", *simGroup = "Simulator (--device=sim)",
                            *benchGroup = "Measuring";

void addKernelOptions(CLI::App &app, RunOptions &options) {
  app.add_option("arguments", options.arguments,
                 "Kernel arguments: numbers and expressions (M=512 stride_am=K alpha=0.5) and buffers "
                 "(a=random(seed=3), zeros, ones, full(2.5), arange, [3, 1, 2], randint(0, 9), permutation, "
                 "offsets(total), addresses(a, offsets), FILE.npy, an image .ppm or .pgm, or any other file as raw "
                 "row-major elements)")
      ->type_name("NAME=VALUE");
  app.add_option("--device", options.device,
                 "Device to run on: cuda, cuda:N for device N, sim for the simulator, or auto: cuda where there is "
                 "one, else sim")
      ->group(runGroup)
      ->capture_default_str();
  app.add_option("--grid", options.grid, "Grid to launch instead of the kernel's own")
      ->delimiter(',')
      ->expected(1, 3)
      ->type_name("X[,Y[,Z]]")
      ->check(CLI::Range(int64_t(0), int64_t(2147483647)))
      ->group(runGroup);
  app.add_option("--seed", options.seed, "Seed of random inputs")
      ->check(isUnsigned)
      ->group(runGroup)
      ->capture_default_str();
  app.add_option("--offset", options.offsets,
                 "Begin a buffer so many elements past an address that is a multiple of 256 bytes")
      ->type_name("NAME=ELEMENTS")
      ->allow_extra_args(false)
      ->group(runGroup);
  app.add_flag("--overlap", options.overlap,
               "Let the kernel begin before the previous one has ended (programmatic dependent launch), if it can")
      ->group(runGroup);
}

void addVariantOptions(CLI::App &app, RunOptions &options) {
  const std::string group = "Artifacts with several variants";
  app.add_option("--variant", options.variant, "Run this variant instead of the one that the call takes")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--tuning", options.tuning, "Choose by this table of `tile-run tune` where it has measurements")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--target", options.target,
                 "In the simulator, choose among the variants for this target (default: that of the first)")
      ->type_name("TARGET")
      ->group(group);
}

void addTimeLimit(CLI::App &app, RunOptions &options) {
  app.add_option_function<double>(
         "--time-limit", [&options](const double &seconds) { options.limit.emplace(seconds); },
         "Stop simulations and checks when the command has taken so long")
      ->type_name("SECONDS")
      ->check(isSeconds)
      ->group(runGroup);
}

void addTraceOption(CLI::App &app, RunOptions &options) {
  app.add_option("--trace", options.trace,
                 "Write the times that a kernel compiled with --instrument has recorded, as a time line for Chrome or "
                 "Perfetto")
      ->type_name("FILE.json")
      ->group(runGroup);
}

void addCheckOptions(CLI::App &app, RunOptions &options) {
  addTimeLimit(app, options);
  app.add_option("--repeat", options.repeat, "Run (and check) this many times with fresh buffers")
      ->check(CLI::Range(1, 1000000))
      ->group(runGroup)
      ->capture_default_str();
  app.add_option("--save", options.saves,
                 "Write a buffer after the run, as .npy, an image (.ppm, .pgm) or raw elements")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false)
      ->group(runGroup);
  app.add_flag("--check", options.check,
               "Compare outputs with the kernel's `expect` declarations, in double on the CPU")
      ->group(runGroup);
}

void addRecordedOptions(CLI::App &app, const std::string &name, RunOptions &options) {
  app.add_option(name, options.recorded,
                 "Compare a buffer after the run with a file that --save wrote: of another device, version or "
                 "framework")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false)
      ->group(compareGroup);
  app.add_option("--within", options.within, "Relative error that is allowed, as `expect ... within`; 0: equal values")
      ->check([](const std::string &text) {
        double bound = 0;
        const bool isBound = CLI::detail::lexical_cast(text, bound) && bound >= 0 && bound <= 1; // not NaN, either
        return isBound ? std::string() : "'" + text + "' is no number from 0 to 1";
      })
      ->group(compareGroup);
}

void addSimulatorOptions(CLI::App &app, RunOptions &options) {
  app.add_option("--order", options.order,
                 "In which order warps and asynchronous operations go on; what a report names repeats its run")
      ->type_name("seed:N")
      ->group(simGroup);
  app.add_option("--orders", options.orders,
                 "Run (and check) under so many orders with fresh buffers; stop at the first that fails")
      ->check(CLI::Range(1, 1000000))
      ->group(simGroup)
      ->capture_default_str();
  app.add_option("--sms", options.multiprocessors,
                 "Multiprocessors that a persistent kernel finds (default: 4); if given, `tilec run` compiles for them")
      ->check(CLI::Range(1, 1024))
      ->group(simGroup);
  app.add_option("--threads", options.threads, "Threads of the host (default: one a core)")
      ->check(CLI::Range(1, 1024))
      ->group(simGroup);
  app.add_option("--steps", options.steps,
                 "Instructions after which a warp counts as hanging (default: 100000000, half a minute)")
      ->check(CLI::Range(uint64_t(1), uint64_t(1) << 62))
      ->group(simGroup);
  app.add_flag("--no-checks", options.noSimChecks,
               "Look for no races, missing waits and uninitialized reads, only for what stops a kernel; faster")
      ->group(simGroup);
  app.add_flag("--profile", options.profile,
               "Print the kernel's source with what each line did: instructions, transactions, bank conflicts, copies")
      ->group(simGroup);
  app.add_option("--profile-json", options.profileJson, "Append the same counters to FILE, one JSON object a run")
      ->type_name("FILE")
      ->group(simGroup);

  app.add_option(
         "--sources", options.sourceFolders,
         "Folder in which the kernel's source is found, for reports and profiles that show its lines, if not in "
         "the working directory or beside the artifact")
      ->type_name("FOLDER")
      ->allow_extra_args(false)
      ->group(simGroup);
}

void addMeasureOptions(CLI::App &app, RunOptions &options) {
  app.add_flag("--graph", options.graph,
               "Measure replays of a CUDA graph of many launches: the device's time alone, for kernels that take less "
               "than a launch")
      ->group(benchGroup);
  app.add_option(
         "--l2", options.l2,
         "Whether inputs that fit are in the L2 cache: cold or warm (default: cold for single launches, warm for "
         "graphs)")
      ->check(CLI::IsMember({"cold", "warm"}))
      ->group(benchGroup);
  app.add_option(
         "--baseline", options.baselines,
         "What to measure beside the kernel, also several: cublas; cublaslt, the fastest algorithm that a search "
         "finds; copy, of as many bytes; none; another artifact; a file .jsonl with recorded times. Default: "
         "cublas for a product, else copy")
      ->type_name("NAME|FILE")
      ->allow_extra_args(false)
      ->group(benchGroup);
  app.add_flag("--energy", options.energy, "Measure the energy of a launch, too: a second more for each contestant")
      ->group(benchGroup);
  app.add_option("--rounds", options.rounds, "Interleaved rounds of kernel and baseline; their median counts")
      ->check(CLI::Range(1, 1000))
      ->group(benchGroup)
      ->capture_default_str();
  app.add_option("-o,--bench-json", options.benchJson,
                 "Append the measurement to this file, one JSON object a line; see tile-run plot and compare")
      ->type_name("FILE")
      ->group(benchGroup);
  app.add_option("--label", options.labels, "Record KEY=VALUE with the measurement, for example commit=1a2b3c")
      ->type_name("KEY=VALUE")
      ->check(isLabel)
      ->allow_extra_args(false)
      ->group(benchGroup);
  app.add_option("--cublas", options.cublas, "The cuBLAS library to load; default: libcublas.so.13, .12 or .11")
      ->type_name("FILE")
      ->group(benchGroup);
  app.add_flag(
         "--precise-baseline", options.preciseBaseline,
         "cuBLAS adds products of 8-bit floats in fp32, for kernels that do (max_num_imprecise_acc); default: its "
         "fast accumulation")
      ->group(benchGroup);
}

void addFormatOption(CLI::App &app, RunOptions &options) {
  app.add_option("--format", options.format, "Form of the report: table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
}

void addRunOptions(CLI::App &app, RunOptions &options) {
  addKernelOptions(app, options);
  addCheckOptions(app, options);
  addTraceOption(app, options);
  addRecordedOptions(app, "--compare", options);
  app.get_option("--within")->needs("--compare");
  addSimulatorOptions(app, options);
  CLI::Option *bench = app.add_flag("--bench", options.bench,
                                    "Measure against cuBLAS (GEMMs) or a device copy of the same traffic "
                                    "(everything else)");
  bench->group(benchGroup);
  addMeasureOptions(app, options);
  app.get_option("--graph")->needs(bench);
  addFormatOption(app, options);
}

} // namespace tile::runner
