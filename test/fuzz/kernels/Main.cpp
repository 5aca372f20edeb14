// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels on the interpreter, on the simulator as compiled for several targets and with several options, and on
// a GPU: all results must be equal. See test/fuzz/README.md.
#include "CheckKernel.h"
#include "KernelGenerator.h"
#include "Random.h"
#include "RealKernels.h"
#include "ReduceKernel.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tile::fuzz;

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  uint64_t seed = 1;
  uint64_t count = 0; ///< 0: until the time is over
  double seconds = 60;
  int jobs = 1;
  double deadline = 60; ///< limit for one kernel
  bool usesGpu = false;
  bool all = false;
  bool reduces = true;
  bool stops = false; ///< stop at the first finding
  bool prints = false;
  bool loops = false; ///< kernels for the passes that schedule loops
  std::string findings = "findings";
  std::vector<std::string> files;
  std::vector<std::string> targets; ///< targets; none: one of each generation, chosen by the seed

  std::vector<std::string> folders; ///< files of real kernels to mutate
  std::optional<RealKernels> real;

  std::string generate(uint64_t seed) const {
    if (real)
      return real->mutant(seed);
    return generateKernel(seed, isAboutLoops(seed) ? KernelKind::Loops : KernelKind::Any);
  }

  /// One random kernel in three is for the passes that schedule loops.
  bool isAboutLoops(uint64_t seed) const { return loops || (!real && seed % 3 == 0); }
};

/// Counters shared by the processes.
struct Counters {
  std::atomic<uint64_t> next;
  std::atomic<uint64_t> kernels;
  std::atomic<uint64_t> runs;
  std::atomic<uint64_t> findings;
  std::atomic<uint64_t> skipped; ///< invalid mutants
};

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The passes that distribute programs, create roles and rings, and schedule the dots of a loop.
constexpr const char *schedulingPasses[] = {
    "tile-distribute-programs", "tile-form-clusters", "cta-pipeline",  "cta-specialize-warps",
    "cta-schedule-loop",        "cta-ping-pong",      "cta-multicast", "cta-share-steps",
    "cta-load-ahead",           "cta-overlap-grids",
};

/// The interpreter; Hopper, whose loops have the most schedules, with all passes under two orders of warps; and Hopper
/// without each of several scheduling passes.
std::vector<Variant> schedulesFor(uint64_t seed) {
  Random random(seed * 31 + 7);
  std::vector<Variant> variants(1);
  Variant variant;
  variant.device = "sim";
  variant.target = "sm_90a";
  variant.promises = true;
  variant.multiprocessors = random.pick({0, 1, 2, 3});
  for (int i = 0; i < 2; ++i) {
    variant.order = static_cast<uint64_t>(random.below(1000));
    variants.push_back(variant);
  }
  variants.back().instrument = random.chance(15);
  constexpr int maxWithout = 4;
  for (int i = 0; i < maxWithout; ++i) {
    variant.order = static_cast<uint64_t>(random.below(1000));
    variant.disabled = schedulingPasses[random.below(std::size(schedulingPasses))];
    variants.push_back(variant);
  }
  return variants;
}

/// One GPU for each generation of matrix instructions.
std::vector<std::string> targetsFor(Random &random) {
  return {random.pick({"sm_75", "sm_80", "sm_80", "sm_86", "sm_89"}),
          random.pick({"sm_90", "sm_90a", "sm_90a", "sm_90a"}),
          random.pick({"sm_100a", "sm_100a", "sm_120", "sm_120a"})};
}

/// Returns the interpreter and, for every target, the kernel compiled with optimisations, without them, and with one
/// pass disabled. Two in three of the optional variants are skipped, because more kernels find more bugs than more
/// variants.
std::vector<Variant> variantsFor(uint64_t seed, const Options &options) {
  if (options.isAboutLoops(seed) && options.files.empty())
    return schedulesFor(seed);
  Random random(seed * 31 + 7);
  std::vector<Variant> variants(1);
  for (const std::string &target : options.targets.empty() ? targetsFor(random) : options.targets) {
    Variant variant;
    variant.device = "sim";
    variant.target = target;
    variant.promises = random.chance(65);
    variant.order = static_cast<uint64_t>(random.below(1000));
    variant.multiprocessors = random.pick({0, 0, 1, 2, 3});
    Variant unoptimised = variant, without = variant;
    unoptimised.optLevel = 0;
    without.disabled = random.pick(optionalPasses());
    if (options.all || random.chance(67))
      variants.push_back(variant);
    if (options.all || random.chance(25))
      variants.push_back(unoptimised);
    if (options.all || random.chance(34))
      variants.push_back(without);
    if (random.chance(8))
      variants.back().instrument = variants.back().device == "sim";
    if (random.chance(8))
      variants.back().debug = variants.back().device == "sim";
  }
  if (options.usesGpu) {
    Variant variant;
    variant.device = "cuda";
    variant.promises = random.chance(50);
    variants.push_back(variant);
  }
  return variants;
}

/// Kernels whose last programs are shared by CTAs depend on the number of multiprocessors, and take long.
std::vector<Variant> variantsOf(const std::string &text, uint64_t seed, const Options &options) {
  std::vector<Variant> variants = variantsFor(seed, options);
  if (text.starts_with("# on 3 multiprocessors")) {
    constexpr size_t enough = 3;
    variants.resize(std::min(variants.size(), enough));
    for (Variant &variant : variants)
      variant.multiprocessors = 3;
  }
  // Teams, and CTAs that share K, stay in step only if each has several programs, one after another.
  if (text.find("schedule = pingpong") != std::string::npos || text.find("cluster = (1, 1,") != std::string::npos)
    for (Variant &variant : variants)
      variant.multiprocessors = variant.multiprocessors % 3 + 1;
  return variants;
}

/// Returns commands that show the finding without this program.
std::string commandsFor(const Variant &variant, const std::string &inputs) {
  const std::string kernel = "reduced.tile",
                    flags = (variant.disabled.empty() ? "" : " --disable=" + variant.disabled) +
                            (variant.instrument ? " --instrument" : "") + (variant.debug ? " --debug" : "");
  std::string text = "# kernel.tile is the one that was generated; here is what it was reduced to\n";
  text += "tilec run " + kernel + inputs + " --device=interp -w\n";
  const std::string sms = variant.multiprocessors ? fmt::format(" --sms={}", variant.multiprocessors) : "";
  const std::string device = " --device=" + variant.device +
                             (variant.device == "sim" ? fmt::format("{} --order=seed:{}", sms, variant.order) : "");
  const std::string options = fmt::format(" --target={} -O{}{} -w", variant.target, variant.optLevel, flags);
  if (variant.promises)
    return text + "tilec run " + kernel + inputs + options + device + "\n";
  return text + "# compiled" + (sms.empty() ? "" : " for" + sms) + "\ntilec " + kernel + options +
         " -o kernel.ptx --emit=ptx && tile-run kernel.ptx" + inputs + device + "\n";
}

/// Returns the options and arguments that a mutant of a real kernel needs.
std::string wordsOf(const std::string &text) {
  const std::optional<MutantOptions> mutant = readMutantOptions(text);
  if (!mutant)
    return "";
  std::string words = " --kernel=" + mutant->kernel;
  for (const auto &[name, value] : mutant->definitions)
    words += " -D '" + name + "=" + value + "'";
  if (mutant->numWarps)
    words += fmt::format(" --num-warps={}", *mutant->numWarps);
  if (mutant->numStages)
    words += fmt::format(" --num-stages={}", *mutant->numStages);
  if (!mutant->cluster.empty())
    words += " --cluster=" + mutant->cluster;
  if (!mutant->schedule.empty())
    words += " --schedule=" + mutant->schedule;
  if (!mutant->signature.empty())
    words += " --signature='" + mutant->signature + "'";
  for (const std::string &argument : mutant->arguments)
    words += " '" + argument + "'";
  return words;
}

void writeFile(const std::string &path, const std::string &text) {
  std::ofstream(path) << text;
}

void report(const std::string &name, const std::string &text, const Verdict &verdict,
            const std::vector<Variant> &variants, const Options &options) {
  const Variant &variant = variants[verdict.variant];
  const std::vector<Variant> failing =
      verdict.variant == 0 ? std::vector{variants[0]} : std::vector{variants[0], variant};
  fmt::print("{}: {} on {}: {}\n", name, nameOf(verdict.kind), variant.name(), verdict.message);
  std::fflush(stdout);
  std::string reduced = text;
  const double deadline = verdict.kind == Verdict::Kind::Hang ? options.deadline / 4 : options.deadline;
  const Clock::time_point start = Clock::now();
  constexpr double maxSeconds = 300;
  if (options.reduces)
    reduced = reduceKernel(text, [&](const std::string &candidate) {
      return secondsSince(start) < maxSeconds &&
             checkKernel(candidate, failing, deadline).signature() == verdict.signature();
    });
  const std::string folder = options.findings + "/" + name;
  std::filesystem::create_directories(folder);
  writeFile(folder + "/kernel.tile", text);
  writeFile(folder + "/reduced.tile", reduced);
  writeFile(folder + "/verdict", fmt::format("{} on {}\n{}\n", nameOf(verdict.kind), variant.name(), verdict.message));
  writeFile(folder + "/commands", commandsFor(variant, wordsOf(reduced) + writeInputs(reduced, folder)));
  fmt::print("{}: reduced in {}/reduced.tile\n{}", name, folder, reduced);
  std::fflush(stdout);
}

void work(const Options &options, Counters &counters, Clock::time_point start) {
  while (secondsSince(start) < options.seconds) {
    const uint64_t index = counters.next++;
    if ((options.count && index >= options.count) || (options.stops && counters.findings > 0))
      return;
    const uint64_t seed = options.seed + index;
    const std::string text = options.generate(seed);
    const std::vector<Variant> variants = variantsOf(text, seed, options);
    const Verdict verdict = checkKernel(text, variants, options.deadline);
    if (verdict.kind == Verdict::Kind::Skipped) {
      ++counters.skipped;
      continue;
    }
    ++counters.kernels;
    counters.runs += variants.size();
    if (!verdict.isFinding())
      continue;
    ++counters.findings;
    report(fmt::format("seed-{}", seed), text, verdict, variants, options);
  }
}

int runSeeds(const Options &options) {
  void *memory = mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Counters &counters = *new (memory) Counters{};
  const Clock::time_point start = Clock::now();
  for (int job = 1; job < options.jobs; ++job)
    if (fork() == 0) {
      work(options, counters, start);
      _exit(0);
    }
  work(options, counters, start);
  while (wait(nullptr) > 0) {
  }
  const std::string findings =
      counters.findings == 0 ? "no finding" : fmt::format("{} findings", counters.findings.load());
  const std::string skipped =
      options.real ? fmt::format(" ({} invalid mutants skipped)", counters.skipped.load()) : std::string();
  fmt::print("kernels: {} in {} kernels{}, {} runs and {:.0f} s, from seed {}\n", findings, counters.kernels.load(),
             skipped, counters.runs.load(), secondsSince(start), options.seed);
  return counters.findings == 0 ? 0 : 1;
}

int runFiles(const Options &options) {
  int status = 0;
  for (const std::string &path : options.files) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    Options every = options;
    every.all = true;
    const std::vector<Variant> variants = variantsFor(options.seed, every);
    const Verdict verdict = checkKernel(text.str(), variants, options.deadline * 3);
    fmt::print("{}: {}\n", path,
               verdict.isFinding() ? fmt::format("{} on {}: {}", nameOf(verdict.kind), variants[verdict.variant].name(),
                                                 verdict.message)
                                   : "same");
    status |= verdict.isFinding();
  }
  return status;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  std::string device;
  CLI::App app("Random kernels, on the interpreter and as compiled code", "tile-fuzz-kernels");
  app.add_option("--seed", options.seed, "Of the first kernel");
  app.add_option("--count", options.count, "How many kernels (default: as many as there is time for)");
  app.add_option("--seconds", options.seconds, "For how long (60)");
  app.add_option("--jobs", options.jobs, "Processes");
  app.add_option("--deadline", options.deadline, "Seconds for one kernel (60)");
  app.add_option("--device", device, "cuda: on a GPU, too");
  app.add_option("--targets", options.targets, "To compile for (one of each generation, by the seed)")->delimiter(',');
  app.add_option("--findings", options.findings, "Folder for what is found");
  app.add_flag("--all", options.all, "Every variant of each kernel");
  app.add_flag("--loops", options.loops, "Loops of dots, with and without each pass that schedules them");
  app.add_option("--mutate", options.folders, "Folders of .tile files: mutants of their kernels instead of random ones")
      ->delimiter(',')
      ->check(CLI::ExistingDirectory);
  app.add_flag("--print", options.prints, "Print the kernels and run nothing");
  app.add_flag("--reduce,!--no-reduce", options.reduces, "Make findings smaller");
  app.add_flag("--first", options.stops, "End with the first finding");
  app.add_option("files", options.files, "Kernels to run instead of random ones");
  CLI11_PARSE(app, argc, argv);
  if (!device.empty() && device != "cuda") {
    fmt::print(stderr, "tile-fuzz-kernels: error: unknown device '{}'; expected cuda\n", device);
    return 2;
  }
  options.usesGpu = device == "cuda";
  if (options.count && app.count("--seconds") == 0)
    options.seconds = 1e9;
  if (!options.folders.empty()) {
    options.real.emplace(options.folders);
    if (options.real->size() == 0) {
      fmt::print(stderr, "tile-fuzz-kernels: error: no kernel with a '#: grid' in the folders\n");
      return 2;
    }
  }
  if (options.prints) {
    for (uint64_t i = 0; i < std::max<uint64_t>(options.count, 1); ++i)
      fmt::print("# seed {}\n{}\n", options.seed + i, options.generate(options.seed + i));
    return 0;
  }
  return options.files.empty() ? runSeeds(options) : runFiles(options);
}
